import type { SourceCoordinates } from '../../src/index.ts';
import { parseInitialTime } from './initial-time.ts';
import { TransactionSet } from './transaction-set.ts';

/**
 * The position up to which a table was read. `at` is the value of the ordering column: microseconds since the epoch for
 * times, the number for incrementing columns. Key values are in text format.
 */
export type TablePosition =
  /**
   * Reading starts with the rows that have this value or a later one, or with all rows if it is undefined. Used if no row was
   * read yet, and if the key of the last row can no longer be used.
   */
  | { readonly kind: 'from'; readonly at: bigint | undefined }
  /** Position in a table with a unique key: the value and key of the last row that was read. */
  | { readonly kind: 'after'; readonly at: bigint; readonly key: readonly string[] }
  /** Position in a table without a unique key: the last value, and the number of rows with this value that were read. */
  | { readonly kind: 'counted'; readonly at: bigint; readonly rowsAt: number };

/** A position with the state that a restarted task needs. */
export interface StoredPosition {
  readonly position: TablePosition;
  /** All rows up to the position that were written by transactions below this one were sent. */
  readonly transaction: bigint | undefined;
  /** Returns the text of the TransactionSet of later transactions whose rows up to the position were sent. */
  readonly sent?: (() => string) | undefined;
  /** `transaction` and `sent` apply only to rows after this time, in microseconds since the epoch. */
  readonly from?: bigint | undefined;
  /** For incrementing columns: all rows up to this number were read longer ago than the look-back interval. */
  readonly since?: bigint | undefined;
  /** The timeline of the server, to which transaction ids and numbers refer. */
  readonly timeline?: number | undefined;
  /** OID of the table. */
  readonly oid: string | undefined;
}

const NAMES = { time: 'timestamp_us', number: 'incrementing' } as const;
export type OrderKind = keyof typeof NAMES;
const AUXILIARY_FIELDS: ReadonlySet<string> = new Set(['xid', 'sent', 'since_us', 'since', 'timeline', 'oid']);

/**
 * Formats an offset: `{"timestamp_us":…}`, with `"key":"[…]"` or `"rows":n` if the position is after a row, and with
 * `incrementing` instead of `timestamp_us` for numbers. If the server provides them, it includes `xid`, `sent`,
 * `since_us` (`since` for numbers), `timeline` and `oid`. `{}` means that nothing was read.
 */
export function toOffset(stored: StoredPosition, kind: OrderKind): SourceCoordinates {
  const { position, transaction, sent, from, since, timeline, oid } = stored;
  const offset: Record<string, string | number | bigint> = {};
  if (position.at !== undefined) offset[NAMES[kind]] = position.at;
  if (position.kind === 'after') offset['key'] = JSON.stringify(position.key);
  if (position.kind === 'counted') offset['rows'] = position.rowsAt;
  if (transaction !== undefined) offset['xid'] = transaction;
  if (sent !== undefined) Object.defineProperty(offset, 'sent', { get: sent, enumerable: true });
  if (from !== undefined) offset['since_us'] = from;
  if (since !== undefined) offset['since'] = since;
  if (timeline !== undefined) offset['timeline'] = timeline;
  if (oid !== undefined) offset['oid'] = Number(oid);
  return offset;
}

/**
 * Parses an offset. A user may write it as `{"timestamp_us":…}` or `{"timestamp":"2026-01-31 08:00:00"}`. If the number of key
 * columns (`keyWidth`) has changed, the key is ignored, and reading resumes at the value. Throws an error if
 * the offset is invalid. Unless the problem is the text of `timestamp`, the error contains the expected format.
 */
export function fromOffset(offset: SourceCoordinates, kind: OrderKind, keyWidth: number | undefined): StoredPosition {
  const { timestamp, key, rows, xid, sent, since_us: from, since, timeline, oid } = offset;
  const given = offset[NAMES[kind]];
  const stored = {
    transaction: isInteger(xid) ? BigInt(xid) : undefined,
    ...(typeof sent === 'string' && TransactionSet.isText(sent) ? { sent: () => sent } : {}),
    ...(isInteger(from) ? { from: BigInt(from) } : {}),
    ...(isInteger(since) ? { since: BigInt(since) } : {}),
    ...(isInteger(timeline) ? { timeline: Number(timeline) } : {}),
    oid: isInteger(oid) ? String(oid) : undefined,
  };
  if (given === undefined && kind === 'time' && typeof timestamp === 'string') {
    return { ...stored, position: { kind: 'from', at: BigInt(parseInitialTime(timestamp, Date.now())) } };
  }
  if (!isInteger(given)) {
    const isEmpty = Object.keys(offset).every((name) => AUXILIARY_FIELDS.has(name));
    if (isEmpty) return { ...stored, position: { kind: 'from', at: undefined } };
    throw new Error(
      `the offset ${JSON.stringify(offset, bigintText)} is not of the form {"${NAMES[kind]}":…} or {"${NAMES[kind]}":…,"key":"[…]"}`,
    );
  }
  const at = BigInt(given);
  if (isInteger(rows)) return { ...stored, position: { kind: 'counted', at, rowsAt: Number(rows) } };
  // In an offset of the JDBC source, a number without a key is the number of the last row that was read.
  const values = typeof key === 'string' ? keyValues(key) : kind === 'number' ? [] : undefined;
  const fits = values !== undefined && values.length === keyWidth;
  return { ...stored, position: fits ? { kind: 'after', at, key: values } : { kind: 'from', at } };
}

/**
 * If a key was added or removed, or the number of its columns has changed, reading resumes at the value of the
 * position, so rows with that value are sent twice.
 */
export function adaptToKey(position: TablePosition, keyWidth: number | undefined): TablePosition {
  if (position.kind === 'from') return position;
  const fits = position.kind === 'after' ? position.key.length === keyWidth : keyWidth === undefined;
  return fits ? position : { kind: 'from', at: position.at };
}

function keyValues(text: string): string[] | undefined {
  try {
    const values = JSON.parse(text) as unknown;
    return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : undefined;
  } catch {
    return undefined;
  }
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
