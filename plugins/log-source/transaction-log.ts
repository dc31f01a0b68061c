import { Schema, Struct, type SourceCoordinates } from '../../src/index.ts';
import type { TransactionPlace } from './envelope.ts';
import { tableText, type TableNaming } from './table-naming.ts';

const TEXT = new Schema('string');
const INT64 = new Schema('int64');
const OPTIONAL_INT64 = new Schema('int64', { optional: true });
const PREFIX = 'io.debezium.connector.common';

const KEY = Schema.struct([{ name: 'id', schema: TEXT }], { name: `${PREFIX}.TransactionMetadataKey`, version: 1 });

const COLLECTION = Schema.struct(
  [
    { name: 'data_collection', schema: TEXT },
    { name: 'event_count', schema: INT64 },
  ],
  { name: 'event.collection', version: 1, optional: true },
);

const VALUE = Schema.struct(
  [
    { name: 'status', schema: TEXT },
    { name: 'id', schema: TEXT },
    { name: 'event_count', schema: OPTIONAL_INT64 },
    { name: 'data_collections', schema: Schema.array(COLLECTION, { optional: true }) },
    { name: 'ts_ms', schema: INT64 },
  ],
  { name: `${PREFIX}.TransactionMetadataValue`, version: 1 },
);

/** Row counts of a transaction: `rows` in total, `tables` by `schema.table`. */
export interface EndedTransaction {
  readonly rows: bigint;
  readonly tables: ReadonlyMap<string, bigint>;
}

/** Counts the rows of the current transaction. */
export class TransactionCounts implements EndedTransaction {
  readonly xid: number;
  readonly tables = new Map<string, bigint>();
  rows = 0n;

  constructor(xid: number) {
    this.xid = xid;
  }

  /** Counts a row. Returns its transaction and number. As in Debezium, `id` contains the LSN of the row, so it differs from row to row. */
  count(of: TableNaming, lsn: bigint): TransactionPlace {
    const table = tableText(of);
    const tableOrder = (this.tables.get(table) ?? 0n) + 1n;
    this.tables.set(table, tableOrder);
    this.rows += 1n;
    return { id: transactionId(this.xid, lsn), order: this.rows, tableOrder };
  }
}

/** The keys of an offset in which Debezium stores these counts. */
export function transactionOffset({ xid, tables }: TransactionCounts): SourceCoordinates {
  const counts = [...tables].map(([table, rows]) => [`transaction_data_collection_order_${table}`, rows]);
  return { transaction_id: String(xid), ...(Object.fromEntries(counts) as SourceCoordinates) };
}

export function transactionId(xid: number, lsn: bigint): string {
  return `${String(xid)}:${String(lsn)}`;
}

/** Key and value of the record for the begin of a transaction (`ended` is undefined) or for its end. */
export function transactionRecord(
  id: string,
  ended: EndedTransaction | undefined,
): { readonly key: Struct; readonly value: Struct } {
  const collections =
    ended === undefined ? null : [...ended.tables].map(([table, rows]) => new Struct(COLLECTION, [table, rows]));
  const status = ended === undefined ? 'BEGIN' : 'END';
  const value = new Struct(VALUE, [status, id, ended?.rows ?? null, collections, BigInt(Date.now())]);
  return { key: new Struct(KEY, [id]), value };
}
