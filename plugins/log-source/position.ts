import {
  ConnectError,
  toError,
  type SourceCoordinates,
  type SourceOffset,
  type SourceTaskContext,
} from '../../src/index.ts';
import type { LogIdentity } from './log-identity.ts';
import type { LogMessage } from './pgoutput.ts';

/**
 * The position in PostgreSQL's write-ahead log up to which the task has created records. An LSN alone is not enough: the rows of a COPY share one LSN, and transactions that overlap
 * in the log are sent in the order of their commits. Therefore a position consists of the last transaction that was sent completely, and
 * of the last message that was sent within the next transaction.
 */
export interface LogPosition {
  /** LSN of the end of the last transaction that was sent completely; `undefined` if none was sent since the slot was created. */
  readonly lastCommit: bigint | undefined;
  /**
   * The last message that was sent. It belongs to the transaction after `lastCommit` or, until a message of that transaction
   * is sent, to the one that ends at `lastCommit`.
   */
  readonly last: LastMessage | undefined;
  /** The log to which these LSNs belong; `undefined` in offsets that Debezium stored. */
  readonly log?: LogIdentity | undefined;
  /** All changes before this LSN were sent. It is higher than `lastCommit` if the captured tables have not changed since then. */
  readonly idle?: bigint | undefined;
}

export interface LastMessage {
  readonly xid: number;
  readonly lsn: bigint;
  /** The number of messages with this LSN that were already sent. */
  readonly events: number;
  /** Time of the commit in microseconds since 1970. */
  readonly micros: bigint;
  readonly type: string;
}

/** The keys of an offset that identify its log. Debezium does not have these keys, and ignores them. */
export function identityOffset({ system, timeline }: LogIdentity): SourceCoordinates {
  return { server_system_id: system, server_timeline: BigInt(timeline) };
}

/** Converts a position to an offset in Debezium's format. `lsn_events_processed` is absent if only one message with the LSN was sent. */
export function toOffset(position: LogPosition): SourceCoordinates {
  const { last, log } = position;
  const whole = wholeBefore(position);
  const offset: Record<string, string | number | bigint> = {};
  if (last !== undefined) {
    offset['lsn_proc'] = last.lsn;
    offset['messageType'] = last.type;
    offset['lsn'] = last.lsn;
    offset['txId'] = BigInt(last.xid);
    offset['ts_usec'] = last.micros;
    if (last.events > 1) offset['lsn_events_processed'] = last.events;
  }
  if (whole !== undefined) offset['lsn_commit'] = whole;
  return log === undefined ? offset : Object.assign(offset, identityOffset(log));
}

/** Returns the LSN before which all committed transactions were sent; `undefined` if none was sent yet. */
export function wholeBefore({ lastCommit, idle }: Omit<LogPosition, 'last'>): bigint | undefined {
  return idle !== undefined && idle > (lastCommit ?? 0n) ? idle : lastCommit;
}

/** A parsed offset: either a position in the log, or the state of a snapshot and the LSN after which changes follow. */
export interface StoredPosition {
  /** The position; `undefined` if no change was sent yet. */
  readonly position: LogPosition | undefined;
  /** Whether a snapshot has begun and not ended. */
  readonly isSnapshotOpen: boolean;
  /**
   * The LSN in the offset of a snapshot: one byte before the LSN of the snapshot. Has no effect if `position` has an
   * LSN.
   */
  readonly snapshotLsn: bigint | undefined;
  readonly log: LogIdentity | undefined;
}

/** The LSN up to which changes were sent. The connector does not move the slot past this LSN until further changes were sent. */
export function reachedBy({ position, snapshotLsn }: StoredPosition): bigint {
  const whole = position === undefined ? undefined : (wholeBefore(position) ?? position.last?.lsn);
  // The offset of a snapshot is one byte before the LSN at which the snapshot was taken.
  return whole ?? (snapshotLsn === undefined ? 0n : snapshotLsn + 1n);
}

/** Reads the stored position of a source; `undefined` if there is none. @throws Error if it is not an offset of this connector or of Debezium */
export async function storedPosition(
  { offset: read, logger }: Pick<SourceTaskContext, 'offset' | 'logger'>,
  prefix: string,
): Promise<StoredPosition | undefined> {
  const offset = await read({ server: prefix });
  if (offset === null) return undefined;
  if (offset['incremental_snapshot_collections'] !== undefined) {
    logger.warn('The offset has an incremental snapshot of Debezium that has not ended; it is not continued');
  }
  return fromOffset(offset);
}

/** Parses an offset of this connector or of Debezium. @internal @throws Error if it is not such an offset */
export function fromOffset(offset: SourceCoordinates): StoredPosition {
  const lsn = integer(offset, 'lsn');
  const log = identityOf(offset);
  if (offset['snapshot'] !== undefined && offset['snapshot'] !== null) {
    return { position: undefined, isSnapshotOpen: offset['snapshot_completed'] !== true, snapshotLsn: lsn, log };
  }
  const type = offset['messageType'];
  const last =
    lsn === undefined
      ? undefined
      : {
          xid: Number(integer(offset, 'txId') ?? 0n),
          lsn,
          // The offset of a transaction's begin has the LSN of its first change, but this change was not sent yet.
          events: type === 'BEGIN' ? 0 : Number(integer(offset, 'lsn_events_processed') ?? 1n),
          micros: integer(offset, 'ts_usec') ?? 0n,
          type: typeof type === 'string' ? type : 'INSERT',
        };
  return {
    position: { lastCommit: integer(offset, 'lsn_commit'), last, log },
    isSnapshotOpen: false,
    snapshotLsn: undefined,
    log,
  };
}

function identityOf(offset: SourceCoordinates): LogIdentity | undefined {
  const system = offset['server_system_id'];
  const timeline = integer(offset, 'server_timeline');
  return typeof system === 'string' && timeline !== undefined ? { system, timeline: Number(timeline) } : undefined;
}

/** Checks offsets that a user sets. @throws ConnectError if the connector could not start from them */
export function checkOffsets(prefix: string, offsets: readonly SourceOffset[]): void {
  for (const { partition, offset } of offsets) {
    if (partition?.['server'] !== prefix) {
      throw new ConnectError(`The partition of this connector is {"server":"${prefix}"}`);
    }
    try {
      if (offset !== null) fromOffset(offset);
    } catch (error) {
      throw new ConnectError(toError(error).message, { cause: error });
    }
  }
}

function integer(offset: SourceCoordinates, name: string): bigint | undefined {
  const value = offset[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new Error(`${name} of the offset is not an integer: ${JSON.stringify(value)}`);
}

/** Tracks the position while messages are sent, and recognizes the messages that were already sent before a restart. */
export class PositionTracker {
  /** The position without its last message. */
  #position: Omit<LogPosition, 'last'>;
  #last: LastMessage | undefined;
  /** The last message to skip in the current transaction. */
  #sent: LastMessage | undefined;
  #sentEvents = 0;
  #resumeFrom: LogPosition | undefined;
  #isSkipped = false;
  #transaction: { readonly xid: number; readonly micros: bigint } | undefined;

  constructor(stored: LogPosition | undefined) {
    const { last, ...position } = stored ?? { lastCommit: undefined, last: undefined };
    this.#position = position;
    this.#last = last;
    this.#resumeFrom = stored;
  }

  get position(): LogPosition {
    return { ...this.#position, last: this.#last };
  }

  get transaction(): { readonly xid: number; readonly micros: bigint } | undefined {
    return this.#transaction;
  }

  /** LSN of the end of the last transaction that was sent completely. */
  get lastCommit(): bigint | undefined {
    return this.#position.lastCommit;
  }

  begin({ finalLsn, xid, commitMicros }: Extract<LogMessage, { kind: 'begin' }>): void {
    this.#transaction = { xid, micros: commitMicros };
    this.#sent = undefined;
    this.#isSkipped = false;
    const from = this.#resumeFrom;
    if (from === undefined) return;
    this.#isSkipped = finalLsn < (wholeBefore(from) ?? 0n);
    if (this.#isSkipped) return;
    this.#resumeFrom = undefined;
    if (from.last?.xid !== xid) return;
    this.#sent = from.last;
    this.#sentEvents = 0;
  }

  /** Returns whether a message is new. If it is, the position moves past it. */
  isNew(lsn: bigint, type: string): boolean {
    if (this.#isSkipped || this.#transaction === undefined) return false;
    if (this.#sent !== undefined) {
      if (lsn < this.#sent.lsn) return false;
      if (lsn === this.#sent.lsn && ++this.#sentEvents <= this.#sent.events) return false;
    }
    const last = this.#last;
    const { xid, micros } = this.#transaction;
    const events = last?.xid === xid && last.lsn === lsn ? last.events + 1 : 1;
    this.#last = { xid, lsn, micros, type, events };
    return true;
  }

  /**
   * Like `isNew`, for a logical message outside of transactions. The server sends it after all transactions that were committed before it,
   * and may send it again after a restart.
   */
  isNewMessage(lsn: bigint, micros: bigint): boolean {
    const whole = wholeBefore(this.#position);
    if (whole !== undefined && lsn <= whole) return false;
    this.#position = { ...this.#position, lastCommit: lsn };
    this.#last = { xid: 0, lsn, micros, type: 'MESSAGE', events: 1 };
    return true;
  }

  /** Notes that the server has sent everything before `end`. Has no effect within a transaction. */
  advance(end: bigint): void {
    if (this.#transaction !== undefined || end <= (wholeBefore(this.#position) ?? 0n)) return;
    this.#position = { ...this.#position, idle: end };
  }

  commit({ endLsn }: Extract<LogMessage, { kind: 'commit' }>): void {
    if (!this.#isSkipped) this.#position = { ...this.#position, lastCommit: endLsn };
    this.#transaction = undefined;
  }
}
