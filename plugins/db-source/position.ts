import type { SourceCoordinates } from '../../src/index.ts';
import { parseInitialTime } from './initial-time.ts';
import { TransactionSet } from './transaction-set.ts';

/**
 * Where reading of a table has come to. `at` is the value of the ordering column: microseconds since the epoch for times, the
 * number for incrementing columns; key values are the server's text.
 */
export type TablePosition =
  /** Nothing read yet: rows from this value on, or all. */
  | { readonly kind: 'from'; readonly at: bigint | undefined }
  /** With a unique key: the last row. */
  | { readonly kind: 'after'; readonly at: bigint; readonly key: readonly string[] }
  /** Without one: how many rows of exactly this value were read. */
  | { readonly kind: 'counted'; readonly at: bigint; readonly rowsAt: number };

/** A position with what a restarted task must know besides. */
export interface StoredPosition {
  readonly position: TablePosition;
  /** All rows up to the position were sent that transactions below this one had written. */
  readonly transaction: bigint | undefined;
  /** Of later ones those whose rows up to the position were sent (a TransactionSet's text). */
  readonly sent?: (() => string) | undefined;
  /** Both tell of rows after this time only; microseconds. */
  readonly from?: bigint | undefined;
  /** For numbers: all rows up to this one were read long before the last. */
  readonly since?: bigint | undefined;
  /** The timeline of the server, on which transactions and numbers have their meaning. */
  readonly timeline?: number | undefined;
  /** Of which table this is the position. */
  readonly oid: string | undefined;
}

const NAMES = { time: 'timestamp_us', number: 'incrementing' } as const;
export type OrderKind = keyof typeof NAMES;
const BESIDES: ReadonlySet<string> = new Set(['xid', 'sent', 'since_us', 'since', 'timeline', 'oid']);

/**
 * Offsets as they are stored: `{"timestamp_us":…,"key":"[…]"}` or `{"timestamp_us":…,"rows":n}`, `incrementing` for numbers;
 * `xid`, `sent`, `since_us` (`since` for numbers), `timeline` and `oid` where the server tells them. `{}`: nothing was read.
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
 * Reads an offset, also one that a user wrote (`{"timestamp_us":…}` or `{"timestamp":"2026-01-31 08:00:00"}` alone). A key of
 * another width than the table's starts again at its time. Throws on another shape, with what it should look like.
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
    const isEmpty = Object.keys(offset).every((name) => BESIDES.has(name));
    if (isEmpty) return { ...stored, position: { kind: 'from', at: undefined } };
    throw new Error(
      `the offset ${JSON.stringify(offset, bigintText)} is not of the form {"${NAMES[kind]}":…} or {"${NAMES[kind]}":…,"key":"[…]"}`,
    );
  }
  const at = BigInt(given);
  if (isInteger(rows)) return { ...stored, position: { kind: 'counted', at, rowsAt: Number(rows) } };
  // Of a number alone the JDBC source means the last one read.
  const values = typeof key === 'string' ? keyValues(key) : kind === 'number' ? [] : undefined;
  const fits = values !== undefined && values.length === keyWidth;
  return { ...stored, position: fits ? { kind: 'after', at, key: values } : { kind: 'from', at } };
}

/** A position of the other kind (the table's key came or went) starts again at its time: rows of that time come twice. */
export function suited(position: TablePosition, keyWidth: number | undefined): TablePosition {
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
