import { Schema, SLUICE_VERSION, Struct, type ConnectValue } from '../../src/index.ts';

/** Schemas of Debezium's change events (io.debezium.data.Envelope). */

const OPTIONAL_INT64 = new Schema('int64', { optional: true });
const OPTIONAL_TEXT = new Schema('string', { optional: true });
const INT64 = new Schema('int64');
const TEXT = new Schema('string');

const SNAPSHOT_MARKS = [
  'true',
  'first',
  'first_in_data_collection',
  'last_in_data_collection',
  'last',
  'false',
  'incremental',
] as const;

/** Position of a row in a snapshot, such as first or last; `null` for rows of the log. */
export type SnapshotMark = (typeof SNAPSHOT_MARKS)[number] | null;

const SNAPSHOT = new Schema('string', {
  optional: true,
  name: 'io.debezium.data.Enum',
  version: 1,
  parameters: new Map([['allowed', SNAPSHOT_MARKS.join(',')]]),
  defaultValue: 'false',
});

const SOURCE = Schema.struct(
  [
    { name: 'version', schema: TEXT },
    { name: 'connector', schema: TEXT },
    { name: 'name', schema: TEXT },
    { name: 'ts_ms', schema: INT64 },
    { name: 'snapshot', schema: SNAPSHOT },
    { name: 'db', schema: TEXT },
    { name: 'sequence', schema: OPTIONAL_TEXT },
    { name: 'ts_us', schema: OPTIONAL_INT64 },
    { name: 'ts_ns', schema: OPTIONAL_INT64 },
    { name: 'schema', schema: TEXT },
    { name: 'table', schema: TEXT },
    { name: 'txId', schema: OPTIONAL_INT64 },
    { name: 'lsn', schema: OPTIONAL_INT64 },
    { name: 'xmin', schema: OPTIONAL_INT64 },
    { name: 'origin', schema: OPTIONAL_TEXT },
    { name: 'origin_lsn', schema: OPTIONAL_INT64 },
  ],
  { name: 'io.debezium.connector.postgresql.Source', version: 1 },
);

const TRANSACTION = Schema.struct(
  [
    { name: 'id', schema: TEXT },
    { name: 'total_order', schema: INT64 },
    { name: 'data_collection_order', schema: INT64 },
  ],
  { optional: true, name: 'event.block', version: 1 },
);

export type Operation = 'r' | 'c' | 'u' | 'd' | 't';

export function envelopeSchema(name: string, value: Schema): Schema {
  return Schema.struct(
    [
      { name: 'before', schema: value },
      { name: 'after', schema: value },
      { name: 'source', schema: SOURCE },
      { name: 'transaction', schema: TRANSACTION },
      { name: 'op', schema: TEXT },
      { name: 'ts_ms', schema: OPTIONAL_INT64 },
      { name: 'ts_us', schema: OPTIONAL_INT64 },
      { name: 'ts_ns', schema: OPTIONAL_INT64 },
    ],
    { name: `${name}.Envelope`, version: 2 },
  );
}

/** The transaction of a row, and the number of the row in it (`provide.transaction.metadata`). */
export interface TransactionPlace {
  readonly id: string;
  readonly order: bigint;
  readonly tableOrder: bigint;
}

const MESSAGE = Schema.struct(
  [
    { name: 'prefix', schema: OPTIONAL_TEXT },
    { name: 'content', schema: new Schema('bytes', { optional: true }) },
  ],
  { name: 'io.debezium.connector.postgresql.Message', version: 1 },
);

const MESSAGE_VALUE = Schema.struct(
  [
    { name: 'op', schema: TEXT },
    { name: 'ts_ms', schema: OPTIONAL_INT64 },
    { name: 'source', schema: SOURCE },
    { name: 'transaction', schema: TRANSACTION },
    { name: 'message', schema: MESSAGE },
  ],
  { name: 'io.debezium.connector.postgresql.MessageValue', version: 1 },
);

/** The value of the record of a logical message (pg_logical_emit_message). */
export function messageValue(prefix: string, content: Uint8Array, source: Struct): Struct {
  const message = new Struct(MESSAGE, [prefix, content]);
  return new Struct(MESSAGE_VALUE, ['m', BigInt(Date.now()), source, null, message]);
}

/** A time since 1970 in the three units of Debezium's fields. */
export class EventTime {
  readonly millis: bigint;
  readonly micros: bigint;
  readonly nanos: bigint;

  constructor(micros: bigint) {
    this.millis = micros / 1000n;
    this.micros = micros;
    this.nanos = micros * 1000n;
  }
}

/** The table that a row belongs to. */
export interface RowTable {
  readonly connector: string;
  readonly database: string;
  readonly schema: string;
  readonly table: string;
}

/** Where a row comes from: its LSN and transaction, or its position in a snapshot. */
export interface RowOrigin {
  readonly snapshot: SnapshotMark;
  /** LSN of the end of the previous transaction; `undefined` if there was none since the slot was created. */
  readonly lastCommit: bigint | undefined;
  readonly lsn: bigint;
  /** `null` for messages outside of transactions. */
  readonly xid: bigint | null;
  /** The time at which the transaction was committed or the snapshot was taken. */
  readonly time: EventTime;
  readonly origin: string | null;
  readonly originLsn: bigint | null;
}

export function sourceOf(origin: RowOrigin, { connector, database, schema, table }: RowTable): Struct {
  const { time, lastCommit, lsn } = origin;
  const before = lastCommit === undefined ? 'null' : `"${String(lastCommit)}"`;
  const sequence = `[${before},"${String(lsn)}"]`;
  const values: ConnectValue[] = [
    SLUICE_VERSION,
    'postgresql',
    connector,
    time.millis,
    origin.snapshot,
    database,
    sequence,
    time.micros,
    time.nanos,
    schema,
    table,
    origin.xid,
    lsn,
    null,
    origin.origin,
    origin.originLsn,
  ];
  return new Struct(SOURCE, values);
}

export function envelope(
  schema: Schema,
  operation: Operation,
  rows: { readonly before: Struct | null; readonly after: Struct | null },
  source: Struct,
  transaction: TransactionPlace | undefined,
): Struct {
  const place =
    transaction === undefined
      ? null
      : new Struct(TRANSACTION, [transaction.id, transaction.order, transaction.tableOrder]);
  return new Struct(schema, [rows.before, rows.after, source, place, operation, ...envelopeTimes()]);
}

let lastNow = new EventTime(0n);
let lastNowMs = 0;

/** The creation time of a record in milliseconds, microseconds and nanoseconds, which are the last fields of its envelope. */
export function envelopeTimes(): readonly bigint[] {
  const { millis, micros, nanos } = now();
  return [millis, micros, nanos];
}

/** The current time. Calls in the same millisecond return the same object. */
function now(): EventTime {
  const ms = Date.now();
  if (ms !== lastNowMs) {
    lastNow = new EventTime(BigInt(ms) * 1000n);
    lastNowMs = ms;
  }
  return lastNow;
}
