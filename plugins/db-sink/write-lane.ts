import { setTimeout as delay } from 'node:timers/promises';
import {
  ConnectError,
  partsOf,
  toError,
  type Decoded,
  type DecodedPart,
  type DecodedStatement,
  type Fault,
  type SinkRecord,
  type SinkRecordBlock,
} from '../../src/index.ts';
import { FencedError } from './delivery-offsets.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { refusals } from './refusals.ts';
import { WaitingRecords } from './waiting-records.ts';

/** What a lane needs from its task. */
export interface LaneParts {
  readonly decoder: RecordDecoder;
  /** Stores rows of one table or runs one statement, retries included; gives what was refused. An abort ends it soon. */
  readonly write: (part: DecodedPart, signal: AbortSignal) => Promise<readonly Fault[]>;
  /** Takes the place of `write` and `refuse` where a batch is stored as a whole. */
  readonly store?: ((batch: SealedBatch, signal: AbortSignal) => Promise<void>) | undefined;
  /** Told of a store that was fenced. */
  readonly onFenced?: (error: FencedError) => void;
  /** By Connect's error policy; rejects when the task must fail. */
  readonly refuse: (record: SinkRecord, error: Error) => Promise<void>;
  /** Called when a write in the background failed, so that the task gets a turn to say so. */
  readonly onFailure: () => void;
  /** Called when all up to a change of tables is done, and had better not be done again. */
  readonly onTablesChanged: () => void;
  readonly batchRows: number;
}

/** Bounds what is kept of records that hold no rows (comments, faults). */
const MAX_WAITING_RECORDS = 20_000;
/** A write that goes on for this long after it was given up is not to be waited for. */
const DROP_TIMEOUT_MS = 15_000;

/** A full batch that waits behind the one that is being written. */
export interface SealedBatch {
  readonly records: WaitingRecords;
  readonly decoded: Decoded;
}

/**
 * Writes the records of some partitions, in order: while one batch is with the database the next one is decoded, and what
 * has come until then goes out together. Lanes work side by side, so that the database and this process need not take
 * turns; a partition always stays on its lane. Nothing that is added is refused: callers ask for room first, so that no more
 * than what one poll gave waits behind a batch on its way.
 *
 * States: idle -> writing -> idle; fenced -> (drop) idle; failed after an error, for good: the task ends with it.
 */
export class WriteLane {
  readonly #parts: LaneParts;
  #waiting = new WaitingRecords();
  #sealed: SealedBatch[] = [];
  #inFlight = new WaitingRecords();
  #given = new AbortController();
  /** To be called when a batch has ended, or a wait for one, and then to be forgotten. */
  #listeners: (() => void)[] = [];
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;
  #isFenced = false;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  /** Decodes a record. */
  add(record: SinkRecord): void {
    const { topic, partition, offset } = record.original;
    this.#waiting.add(record);
    this.#parts.decoder.add(record, { kind: 'record', topic, partition, offset });
    this.#sealWhenFull();
  }

  /** Decodes a block, where it lies as far as possible. */
  async addBlock(block: SinkRecordBlock): Promise<void> {
    const { decoder, batchRows } = this.#parts;
    for (let index = 0; index < block.count;) {
      const end = Math.min(block.count, index + Math.max(1, batchRows - decoder.rowCount));
      const reached = decoder.addBlock?.(block, index, end) ?? index;
      if (reached > index) this.#waiting.addBlock(block, index, reached);
      index = reached;
      if (index < end) {
        const made = block.sinkRecord(index);
        const record = made instanceof Promise ? await made : made;
        if (record !== undefined) this.add(record);
        index++;
      }
      this.#sealWhenFull();
    }
  }

  /** Waits while a full batch waits; false when one still does after that time. Rejects with a failure of the batch before. */
  async hasRoom(timeoutMs: number): Promise<boolean> {
    await this.#until(() => this.#isFenced || this.#sealed.length === 0, timeoutMs);
    return this.#sealed.length === 0 && !this.#isFenced;
  }

  /** Sends out what waits, unless a write is on its way: then it follows that one. */
  start(): void {
    if (this.#writing !== undefined || this.#isFenced || !this.#hasWork()) return;
    this.#writing = this.#drain().finally(() => {
      this.#writing = undefined;
      this.#notify();
    });
  }

  /** Resolves when nothing waits and nothing is on its way, or after that time. */
  async flush(timeoutMs: number): Promise<void> {
    this.start();
    await this.#until(() => this.#isFenced || (!this.#hasWork() && this.#writing === undefined), timeoutMs);
  }

  /** The first offset of the partition that is not stored; `undefined` when all that was added is. */
  firstUnstored(key: string): number | undefined {
    const all = [this.#inFlight, ...this.#sealed.map(({ records }) => records), this.#waiting];
    for (const { firstOffsets } of all) {
      const offset = firstOffsets.get(key);
      if (offset !== undefined) return offset;
    }
    return undefined;
  }

  /** Throws what went wrong in the background, if anything did. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Ends the write on its way and forgets what waits: the partitions are gone. */
  async drop(): Promise<void> {
    this.#waiting = new WaitingRecords();
    this.#sealed = [];
    this.#parts.decoder.take();
    const ended = this.#writing === undefined || (await this.#giveUp(this.#writing));
    this.#isFenced = false;
    this.#inFlight = new WaitingRecords();
    if (!ended) this.#failure = new ConnectError('The database neither did nor refused a write that was given up');
  }

  async #giveUp(writing: Promise<void>): Promise<boolean> {
    this.#given.abort();
    const ended = await Promise.race([writing.then(() => true), delay(DROP_TIMEOUT_MS, false, { ref: false })]);
    this.#given = new AbortController();
    return ended;
  }

  /** Never rejects: the failure is kept for the next call. */
  async #drain(): Promise<void> {
    const { signal } = this.#given;
    try {
      while (this.#hasWork() && this.#failure === undefined && !signal.aborted) {
        const batch = this.#sealed.shift() ?? this.#seal();
        this.#inFlight = batch.records;
        await (this.#parts.store?.(batch, signal) ?? this.#write(batch.decoded, signal));
        this.#inFlight = new WaitingRecords();
        this.#notify();
      }
    } catch (error) {
      // Nobody waits for a write that was given up.
      if (signal.aborted) return;
      if (error instanceof FencedError) {
        this.#isFenced = true;
        this.#parts.onFenced?.(error);
        return;
      }
      this.#failure = toError(error);
      this.#parts.onFailure();
    }
  }

  async #write(decoded: Decoded, signal: AbortSignal): Promise<void> {
    let refused: readonly Fault[] = decoded.faults;
    for (const part of partsOf(decoded)) {
      const faults = await this.#parts.write(part, signal);
      if (faults.length > 0) refused = [...refused, ...faults];
      if (part.kind === 'statement' && changesTables(part.statement)) {
        const [done, rest] = this.#inFlight.splitBehind(part.statement.origin);
        await this.#refuse(
          done,
          refused.filter(({ origin }) => done.holds(origin)),
        );
        refused = refused.filter(({ origin }) => !done.holds(origin));
        this.#inFlight = rest;
        this.#parts.onTablesChanged();
      }
    }
    await this.#refuse(this.#inFlight, refused);
  }

  async #refuse(records: WaitingRecords, faults: readonly Fault[]): Promise<void> {
    for (const [record, error] of await refusals(records, faults)) await this.#parts.refuse(record, error);
  }

  #sealWhenFull(): void {
    const isFull = this.#parts.decoder.rowCount >= this.#parts.batchRows || this.#waiting.count >= MAX_WAITING_RECORDS;
    if (!isFull) return;
    this.#sealed.push(this.#seal());
    this.start();
  }

  #seal(): SealedBatch {
    const records = this.#waiting;
    this.#waiting = new WaitingRecords();
    return { records, decoded: this.#parts.decoder.take() };
  }

  #hasWork(): boolean {
    return this.#sealed.length > 0 || this.#waiting.count > 0;
  }

  #notify(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** Waits until `holds`, which only the end of a batch changes, or for that time. */
  async #until(holds: () => boolean, timeoutMs: number): Promise<void> {
    this.check();
    if (holds()) return;
    let isOver = false;
    // Without an AbortController, which costs more than a batch of small rows takes to decode.
    const timer = setTimeout(() => {
      isOver = true;
      this.#notify();
    }, timeoutMs).unref();
    try {
      while (!isOver && !holds()) {
        await new Promise<void>((resolve) => this.#listeners.push(resolve));
        this.check();
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

function changesTables({ kind }: DecodedStatement): boolean {
  return kind === 'create' || kind === 'alter' || kind === 'drop';
}
