import type { Workload } from './bench-context.ts';
import { envelope, jsonDbOf, lineOf } from './rows.ts';
import { runSink } from './sink-workload.ts';
import { keyedTable, seriesTable } from './tables.ts';

/** What an operator with a backlog sets (docs/benchmarks.md). */
export const BATCHES = { 'batch.size': '10000', 'consumer.override.max.poll.records': '10000' };

const BYTES = 'org.apache.kafka.connect.converters.ByteArrayConverter';

/** Values of structs with their schemas, as `envelope` writes them. */
export const ENVELOPES = {
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'true',
};

/** `sink-lines`: line protocol into a time-series table. */
export const sinkLines: Workload = (context) =>
  runSink(context, {
    table: 'bench_lines',
    layout: seriesTable,
    textOf: lineOf('bench_lines'),
    options: { ...BATCHES, 'value.converter': BYTES, 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' },
    peerMode: null,
  });

/** `sink-json`: one `json_db` row a message into the same time-series table. */
export const sinkJson: Workload = (context) =>
  runSink(context, {
    table: 'bench_json',
    layout: seriesTable,
    textOf: jsonDbOf('bench_json'),
    options: { ...BATCHES, 'value.converter': BYTES, 'protocol.type': 'json_db', 'timestamp.precision': 'ms' },
    peerMode: 'upsert',
  });

/** `sink-struct-upsert` and `sink-struct-insert`: JsonConverter's envelope into a table with primary key `id`. */
export const sinkStructUpsert = sinkStruct('upsert');
export const sinkStructInsert = sinkStruct('insert');

/** Envelopes into a table with primary key `id`. */
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

function sinkStruct(mode: 'insert' | 'upsert'): Workload {
  const table = `bench_struct_${mode}`;
  return (context) =>
    runSink(context, {
      table,
      layout: keyedTable,
      textOf: envelope,
      options: { ...BATCHES, ...structOptions(table, mode) },
      peerMode: mode,
    });
}
