import { setTimeout as delay } from 'node:timers/promises';
import { createKafkaClient } from '../../src/kafka/client.ts';
import type { ProducedRecord } from '../../src/kafka/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import type { BenchServices } from './bench-services.ts';
import { median, type BenchContext, type Figures } from './figures.ts';
import { WorkerUnderTest } from './worker-under-test.ts';

const START_MS = 1_700_000_000_000;
const PARTITIONS = 4;
const MESSAGES_PER_SEND = 2000;
const TIMEOUT_MS = 180_000;

const value = (id: number) => ((id * 7919) % 1_000_003) / 100;

/** The row of the workloads as line protocol: tag category, fields id and value, milliseconds. */
function line(table: string, id: number): string {
  return `${table},category=category-${String(id % 100)} id=${String(id)}i,value=${String(value(id))} ${String(START_MS + id)}`;
}

function* copyText(rows: number): Generator<string> {
  for (let from = 0; from < rows; from += 1000) {
    let text = '';
    for (let id = from; id < Math.min(rows, from + 1000); id++) {
      text += `${new Date(START_MS + id).toISOString()}\t${String(id)}\t${String(value(id))}\tcategory-${String(id % 100)}\n`;
    }
    yield text;
  }
}

/**
 * `sink-lines`: line protocol from 4 partitions into a time-series table by 2 tasks, against `\copy` of the same rows into an
 * equal table over one connection, in the same run. Rows per second are counted in the database.
 */
export async function sinkLines({ services, rows, runs }: BenchContext): Promise<Figures> {
  const rates: number[] = [];
  const copyRates: number[] = [];
  const cpu: number[] = [];
  const databaseCpu: number[] = [];
  const worker = await WorkerUnderTest.start(services.bootstrapServers);
  try {
    const topic = `bench-lines-${String(Date.now())}`;
    await produceLines(services, topic, 'bench_lines', rows);
    for (let run = 0; run < runs; run++) {
      await createTable(services, 'bench_copy');
      copyRates.push(rows / (await services.copy('bench_copy', copyText(rows))));
      await createTable(services, 'bench_lines');
      const [workerBefore, databaseBefore] = [await worker.cpuSeconds(), await services.databaseCpuSeconds()];
      rates.push(await sinkOnce(services, worker, topic, rows, run));
      cpu.push(((await worker.cpuSeconds()) - workerBefore) * (1e6 / rows));
      databaseCpu.push(((await services.databaseCpuSeconds()) - databaseBefore) * (1e6 / rows));
    }
    const rate = median(rates);
    const copyRate = median(copyRates);
    return {
      rows_per_s: Math.round(rate),
      rows_per_s_range: [Math.round(Math.min(...rates)), Math.round(Math.max(...rates))],
      cpu_s_per_million: Number(median(cpu).toFixed(2)),
      database_cpu_s_per_million: Number(median(databaseCpu).toFixed(2)),
      peak_rss_mb: await worker.peakRssMb(),
      peer: 'copy text, one connection',
      peer_rows_per_s: Math.round(copyRate),
      ratio_to_peer: Number((rate / copyRate).toFixed(2)),
    };
  } finally {
    await worker.stop();
  }
}

async function createTable(services: BenchServices, name: string): Promise<void> {
  await services.query(`drop table if exists ${name}`);
  await services.query(
    `create table ${name} (k_timestamp timestamptz(3) not null, id int8, value float8, category varchar(64) not null, primary key (k_timestamp, category))`,
  );
  await services.query(`comment on column ${name}.category is 'sluice:primary-tag'`);
  await services.query('checkpoint');
}

async function produceLines(services: BenchServices, topic: string, table: string, rows: number): Promise<void> {
  const client = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger);
  const admin = client.admin();
  await admin.createTopic({ name: topic, partitions: PARTITIONS, replicationFactor: 1, settings: {} });
  await admin.close();
  const producer = client.producer();
  await producer.connect();
  for (let from = 0; from < rows; from += MESSAGES_PER_SEND) {
    const records = Array.from({ length: Math.min(MESSAGES_PER_SEND, rows - from) }, (_, i): ProducedRecord => {
      const id = from + i;
      return {
        topic,
        partition: id % PARTITIONS,
        key: Buffer.from(String(id)),
        value: Buffer.from(line(table, id)),
        timestamp: null,
        headers: [],
      };
    });
    await producer.send(records);
  }
  await producer.close();
}

/** Rows per second from the first row visible to the last. */
async function sinkOnce(
  services: BenchServices,
  { rest }: WorkerUnderTest,
  topic: string,
  rows: number,
  run: number,
): Promise<number> {
  const name = `bench-lines-${String(run)}-${String(Date.now())}`;
  await rest.create(
    name,
    sinkConfig(
      { ...services.database, url: '' },
      {
        'tasks.max': '2',
        topics: topic,
        'protocol.type': 'line_lp',
        'timestamp.precision': 'ms',
        'batch.size': '5000',
        'consumer.override.max.poll.records': '5000',
        'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
      },
    ),
  );
  const deadline = Date.now() + TIMEOUT_MS;
  let first: { atMs: number; count: number } | undefined;
  for (;;) {
    const count = await services.number('select count(*) from bench_lines');
    const atMs = performance.now();
    if (first === undefined && count > 0) first = { atMs, count };
    if (count >= rows && first !== undefined) {
      await rest.delete(`/connectors/${name}`);
      return ((count - first.count) * 1000) / (atMs - first.atMs);
    }
    if (Date.now() > deadline) {
      throw new Error(`only ${String(count)} of ${String(rows)} rows: ${JSON.stringify(await rest.status(name))}`);
    }
    await delay(50);
  }
}
