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
 * How far the log has been read. An LSN alone is not a position: the rows of a COPY share one, and transactions that overlap in the
 * log are sent in the order of their commits. The position is therefore the last transaction that was sent as a whole, and, of the
 * transaction after it, the last message that was sent.
 */
export interface LogPosition {
  /** End of the last transaction that was sent as a whole; `undefined` if there was none since the slot was created. */
  readonly lastCommit: bigint | undefined;
  /** The last message that was sent of the transaction after `lastCommit`. */
  readonly last: LastMessage | undefined;
  /** The log that these places are in; `undefined` in offsets of Debezium. */
  readonly log?: LogIdentity | undefined;
  /** Everything before this place was sent. It is after `lastCommit` if the log has had no change of a captured table since. */
  readonly idle?: bigint | undefined;
}

export interface LastMessage {
  readonly xid: number;
  readonly lsn: bigint;
  /** The number of messages with this LSN that were sent. */
  readonly events: number;
  /** Microseconds since 1970 of the commit. */
  readonly micros: bigint;
  readonly type: string;
}

/** Keys of an offset for the log that it belongs to, which Debezium does not have and ignores. */
export function identityOffset({ system, timeline }: LogIdentity): SourceCoordinates {
  return { server_system_id: system, server_timeline: BigInt(timeline) };
}

/** Debezium's offset of a position. `lsn_events_processed` is absent where one message has the LSN. */
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

/** All transactions that committed before this place were sent. */
export function wholeBefore({ lastCommit, idle }: LogPosition): bigint | undefined {
  return idle !== undefined && idle > (lastCommit ?? 0n) ? idle : lastCommit;
}

/** A stored offset: a position in the log, or the state of a snapshot and the place where changes follow it. */
export interface StoredPosition {
  /** `undefined`: no change was sent yet. */
  readonly position: LogPosition | undefined;
  /** A snapshot was begun and did not end. */
  readonly isSnapshotOpen: boolean;
  /** Where the snapshot was taken; changes after it follow. */
  readonly snapshotLsn: bigint | undefined;
  readonly log: LogIdentity | undefined;
}

/** The slot is never moved past this place before other changes are sent. */
export function reachedBy({ position, snapshotLsn }: StoredPosition): bigint {
  const whole = position === undefined ? undefined : (wholeBefore(position) ?? position.last?.lsn);
  // The offset of a snapshot is one byte before the place where it was taken.
  return whole ?? (snapshotLsn === undefined ? 0n : snapshotLsn + 1n);
}

/** The position that is stored for a source; `undefined`: none. @throws Error if it is not an offset of this connector or of Debezium */
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

/** Reads an offset of this connector or of Debezium. @internal @throws Error if it is not one */
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
          // The begin of a transaction has the place of its first change, which was not sent.
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

/** @throws ConnectError if a connector of this name could not start from the offsets */
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

/** Skips the messages that were sent before a restart, and counts those that are sent. */
export class PositionTracker {
  #position: LogPosition;
  /** The last message to skip in the current transaction. */
  #sent: LastMessage | undefined;
  #sentEvents = 0;
  #resumeFrom: LogPosition | undefined;
  #isSkipped = false;
  #transaction: { readonly xid: number; readonly micros: bigint } | undefined;

  constructor(stored: LogPosition | undefined) {
    this.#position = stored ?? { lastCommit: undefined, last: undefined };
    this.#resumeFrom = stored;
  }

  get position(): LogPosition {
    return this.#position;
  }

  get transaction(): { readonly xid: number; readonly micros: bigint } | undefined {
    return this.#transaction;
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

  /** Whether the message is new; it counts as sent then. */
  isNew(lsn: bigint, type: string): boolean {
    if (this.#isSkipped || this.#transaction === undefined) return false;
    if (this.#sent !== undefined) {
      if (lsn < this.#sent.lsn) return false;
      if (lsn === this.#sent.lsn && ++this.#sentEvents <= this.#sent.events) return false;
    }
    const { last } = this.#position;
    const { xid, micros } = this.#transaction;
    const events = last?.xid === xid && last.lsn === lsn ? last.events + 1 : 1;
    this.#position = { ...this.#position, last: { xid, lsn, micros, type, events } };
    return true;
  }

  /**
   * For a logical message outside of transactions. The server sends it after all transactions that were committed before it, and may
   * send it again after a restart. Returns whether the message is new; it counts as sent then.
   */
  isNewMessage(lsn: bigint, micros: bigint): boolean {
    const whole = wholeBefore(this.#position);
    if (whole !== undefined && lsn <= whole) return false;
    const last = { xid: 0, lsn, micros, type: 'MESSAGE', events: 1 };
    this.#position = { ...this.#position, lastCommit: lsn, last };
    return true;
  }

  /** The server has sent everything before `end`. Has no effect within a transaction. */
  advance(end: bigint): void {
    if (this.#transaction !== undefined || end <= (wholeBefore(this.#position) ?? 0n)) return;
    this.#position = { ...this.#position, idle: end };
  }

  commit({ endLsn }: Extract<LogMessage, { kind: 'commit' }>): void {
    if (!this.#isSkipped) this.#position = { ...this.#position, lastCommit: endLsn };
    this.#transaction = undefined;
  }
}
