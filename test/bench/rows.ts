/** Milliseconds since the epoch. The time of row `id` is START_MS + id. */
const START_MS = 1_700_000_000_000;

const ENVELOPE_SCHEMA = JSON.stringify({
  type: 'struct',
  fields: [
    { type: 'int64', optional: false, field: 'id' },
    { type: 'string', optional: true, field: 'category' },
    { type: 'double', optional: true, field: 'value' },
    { type: 'int64', optional: true, name: 'org.apache.kafka.connect.data.Timestamp', version: 1, field: 'ts' },
  ],
  optional: false,
  name: 'bench',
});

/** Returns the text of row `id` in some format. */
export type TextOf = (id: number) => string;

/** Returns the message value of row `id`. */
export type MessageOf = (id: number) => string | Buffer;

/**
 * The row of all workloads has an `id` from 0 on, one of 100 categories, a float with two decimals, and a time in
 * milliseconds.
 */
export const category: TextOf = (id) => `category-${String(id % 100)}`;
export const value = (id: number): number => ((id * 7919) % 1_000_003) / 100;
export const timeMs = (id: number): number => START_MS + id;
export const isoTime: TextOf = (id) => new Date(timeMs(id)).toISOString();

/** Returns line protocol with the tag `category`, the fields `id` and `value`, and milliseconds. */
export function lineOf(table: string): TextOf {
  return (id) => `${table},category=${category(id)} id=${String(id)}i,value=${String(value(id))} ${String(timeMs(id))}`;
}

/** The value that JsonConverter writes with `schemas.enable`: about 412 bytes, because each row has its schema. */
export const envelope: TextOf = (id) => envelopeAt(id, timeMs(id));

/** Same as `envelope`, with another time. */
export function envelopeAt(id: number, atMs: number): string {
  return `{"schema":${ENVELOPE_SCHEMA},"payload":{"id":${String(id)},"category":"${category(id)}","value":${String(value(id))},"ts":${String(atMs)}}}`;
}

/** Returns messages of one row each, with the columns of `seriesTable`. */
export function jsonDbOf(table: string): TextOf {
  const head = JSON.stringify({
    table,
    columns: [
      { name: 'k_timestamp', type: 'TIMESTAMPTZ', length: 64 },
      { name: 'id', type: 'INT8', length: 64 },
      { name: 'value', type: 'FLOAT8', length: 64 },
    ],
    tags: [{ name: 'category', type: 'VARCHAR', length: 64, primary: true, nullable: false }],
  }).slice(0, -1);
  return (id) =>
    `${head},"data":[{"k_timestamp":${String(timeMs(id))},"id":${String(id)},"value":${String(value(id))},"category":"${category(id)}"}]}`;
}
