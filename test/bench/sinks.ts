import type { Workload } from './bench-context.ts';
import { envelope, jsonDbOf, lineOf } from './rows.ts';
import { runSink, type SinkWorkload } from './sink-workload.ts';
import { keyedTable, seriesTable } from './tables.ts';

/** Options that an operator sets for a backlog (docs/benchmarks.md). */
export const BATCHES = { 'batch.size': '10000', 'consumer.override.max.poll.records': '10000' };

const BYTES = 'org.apache.kafka.connect.converters.ByteArrayConverter';

/** Values of structs with their schemas, as `envelope` writes them. */
export const ENVELOPES = {
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'true',
};

/** Records and options of the sink workloads, without the batch sizes. */
export const SINKS = {
  structUpsert: structSink('upsert'),
  structInsert: structSink('insert'),
  json: {
    table: 'bench_json',
    layout: seriesTable,
    textOf: jsonDbOf('bench_json'),
    options: { 'value.converter': BYTES, 'protocol.type': 'json_db', 'timestamp.precision': 'ms' },
    peerMode: 'upsert',
  },
  lines: {
    table: 'bench_lines',
    layout: seriesTable,
    textOf: lineOf('bench_lines'),
    options: { 'value.converter': BYTES, 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' },
    peerMode: null,
  },
} as const satisfies Readonly<Record<string, SinkWorkload>>;

/** `sink-lines`: line protocol into a time-series table. */
export const sinkLines = inLargeBatches(SINKS.lines);
/** `sink-json`: one row of `json_db` per message into the same time-series table. */
export const sinkJson = inLargeBatches(SINKS.json);
/** `sink-struct-upsert` and `sink-struct-insert`: envelopes of JsonConverter into a table with primary key `id`. */
export const sinkStructUpsert = inLargeBatches(SINKS.structUpsert);
export const sinkStructInsert = inLargeBatches(SINKS.structInsert);

function inLargeBatches(sink: SinkWorkload): Workload {
  return (context) => runSink(context, { ...sink, options: { ...BATCHES, ...sink.options } });
}

/** Options for envelopes into a table with primary key `id`. */
export function structOptions(table: string, mode: 'insert' | 'upsert'): Record<string, string> {
  return {
    ...ENVELOPES,
    'protocol.type': 'struct',
    'insert.mode': mode,
    'pk.mode': 'record_value',
    'pk.fields': 'id',
    'table.name.format': table,
  };
}

function structSink(mode: 'insert' | 'upsert'): SinkWorkload {
  const table = `bench_struct_${mode}`;
  return { table, layout: keyedTable, textOf: envelope, options: structOptions(table, mode), peerMode: mode };
}
