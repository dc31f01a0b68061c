import { loadAvro } from '../../src/converters/avro/avro-codec.ts';
import { wirePrefix } from '../../src/converters/schema-registry/wire-format.ts';
import { RegistryStub } from '../support/registry-stub.ts';
import type { BenchContext, Workload } from './bench-context.ts';
import { compare, summarise, type Comparison, type Figures } from './figures.ts';
import { measure, type Run } from './measured-run.ts';
import { RowTopic } from './row-topic.ts';
import { category, envelope, timeMs, value, type MessageOf } from './rows.ts';
import { sinkOnce } from './sink-run.ts';
import { BATCHES, structOptions } from './sinks.ts';
import { keyedTable } from './tables.ts';

/** The schema of the row of `envelope`, with the same names and types. */
const AVRO_ROW = {
  type: 'record',
  name: 'bench',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'category', type: ['null', 'string'] },
    { name: 'value', type: ['null', 'double'] },
    { name: 'ts', type: ['null', { type: 'long', logicalType: 'timestamp-millis' }] },
  ],
} as const;

/**
 * `sink-avro`: Avro messages of about 45 bytes with a schema registry, alternating with `sink-struct-upsert` on the
 * same rows.
 */
export const sinkAvro: Workload = async (context) => {
  const registry = await RegistryStub.start();
  try {
    const id = registry.add('bench', { schema: JSON.stringify(AVRO_ROW) });
    const converter = {
      'value.converter': 'io.confluent.connect.avro.AvroConverter',
      'value.converter.schema.registry.url': registry.url,
    };
    return await besideEnvelopes(context, 'bench_avro', avroRow(id), converter);
  } finally {
    await registry.stop();
  }
};

function avroRow(schemaId: number): MessageOf {
  const prefix = wirePrefix(schemaId);
  const type = loadAvro().Type.forSchema(AVRO_ROW as never, { wrapUnions: false });
  return (id) => {
    const row = { id, category: category(id), value: value(id), ts: timeMs(id) };
    return Buffer.concat([prefix, type.toBuffer(row)]);
  };
}

/** Alternates upserts of these messages and of envelopes. Each run has its own worker and an empty table. */
async function besideEnvelopes(
  context: BenchContext,
  table: string,
  messageOf: MessageOf,
  converter: Readonly<Record<string, string>>,
): Promise<Figures & Comparison> {
  const { services, rows } = context;
  const workers = [await context.startWorker(), await context.startWorker()] as const;
  const topics = [
    await RowTopic.produce(services, 'bench-envelopes', rows, envelope),
    await RowTopic.produce(services, table.replaceAll('_', '-'), rows, messageOf),
  ] as const;
  const run = async (which: 0 | 1, options: Readonly<Record<string, string>>): Promise<Run> => {
    await services.createTable(table, keyedTable);
    const worker = workers[which];
    const job = { table, options: { ...BATCHES, ...structOptions(table, 'upsert'), ...options } };
    return measure(context, worker, () => sinkOnce(context, worker, topics[which].name, job));
  };
  const envelopes: Run[] = [];
  const runs: Run[] = [];
  try {
    for (let round = -1; round < context.runs; round++) {
      const beside = await run(0, {});
      const measured = await run(1, converter);
      if (round < 0) continue;
      envelopes.push(beside);
      runs.push(measured);
    }
    const rates = envelopes.map(({ rowsPerS }) => rowsPerS);
    return { ...(await summarise(runs, workers[1])), ...compare(runs, 'sink-struct-upsert', rates) };
  } finally {
    for (const worker of workers) await worker.stop();
    for (const topic of topics) await topic.delete();
    await services.dropTable(table);
  }
}
