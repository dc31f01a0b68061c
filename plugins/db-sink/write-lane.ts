import { ConnectError, toError, Turn, within, type SinkRecord, type SinkRecordBlock } from '../../src/index.ts';
import { partsOf, type Decoded, type DecodedPart, type Fault, type Origin } from '../database/index.ts';
import { WRITE_MS, type BatchRows } from './batch-rows.ts';
import { FencedError } from './delivery-offsets.ts';
import { changesTables, OrderedWrites, type Attempt, type Refuse } from './ordered-writes.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { refusals } from './refusals.ts';
import {
  bytesBetween,
  decodeRecord,
  messageBytes,
  sliceEnd,
  WaitingRecords,
  type SealedBatch,
} from './waiting-records.ts';

type WriteParts = (part: DecodedPart, signal: AbortSignal) => Promise<readonly Fault[]>;

/** How a lane writes its batches. An abort promptly ends a write of any kind. */
export type BatchWrites =
  /** Writes a batch part by part: `write` stores the rows of a table or runs a statement, and returns the faults. */
  | {
      readonly kind: 'parts';
      readonly write: WriteParts;
    }
  /** Writes each batch as a whole; `store` also reports refused records. */
  | { readonly kind: 'whole'; readonly store: (batch: SealedBatch, signal: AbortSignal) => Promise<void> }
  /** Writes the records in order, up to the first refused record (`errors.tolerance=none`). */
  | { readonly kind: 'ordered'; readonly attempt: Attempt };

export interface LaneListener {
  readonly onFenced?: (error: FencedError) => void;
  /** Called when a write in the background failed, so that the task gets a chance to report it. */
  readonly onFailure: () => void;
  /**
   * Called after a change of tables, once all records up to the change are stored and should not be written again. With
   * ordered writes, also called if a batch fails after some of its statements were executed.
   */
  readonly onTablesChanged: () => void;
  readonly onWriting?: (batch: SealedBatch) => void;
  readonly onWritten?: (batch: SealedBatch, ms: number) => void;
}

interface LaneBatch extends SealedBatch {
  readonly rowCount: number;
}

/** A batch with this many records is full. The limit matters for records without rows (comments, faults). */
const MAX_WAITING_RECORDS = 20_000;
/** Size limit of the messages in a batch, whose rows are encoded at once. */
const MAX_BATCH_BYTES = 8_388_608;
/** How long to wait for an aborted write. */
const DROP_TIMEOUT_MS = 15_000;

/**
 * Writes the records of some partitions in order. While a batch is in flight, the next one is decoded, and everything
 * received meanwhile is written together. Lanes run in parallel, so that the database and this process do not wait for
 * each other; a partition stays on its lane. Records are always accepted: callers wait for room first, so that no more
 * than the result of one poll is pending behind a batch in flight. If more records are known to follow, pending ones
 * are held back until the batch is full, for at most 100 ms. A lane is idle or writing; after fencing, it is fenced
 * until `drop`; after another error, it has failed permanently, and so has the task.
 */
export class WriteLane {
  readonly #createDecoder: () => RecordDecoder;
  readonly #writes: BatchWrites;
  readonly #reportRefused: Refuse;
  readonly #batchRows: BatchRows;
  readonly #listener: LaneListener;
  readonly #decoder: RecordDecoder;
  /** Set from the first added record until `start`, while only full batches are written. */
  #isAdding = false;
  #waiting = new WaitingRecords();
  /** Time until which pending records are held back, on the clock of `performance.now()`. */
  #heldUntil: number | undefined;
  #holding: NodeJS.Timeout | undefined;
  #sealed: LaneBatch[] = [];
  #inFlight = new WaitingRecords();
  #abort = new AbortController();
  /** Callbacks, each of which is called once, when a batch or a wait has ended. */
  #waiters: (() => void)[] = [];
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;
  #isFenced = false;
  /** Start of the batch in flight, on the clock of `performance.now()`. */
  #startedAt: number | undefined;
  #decodedInFlight: Decoded | undefined;

  /** `refuse` handles a record according to Connect's error policy; it rejects if the task must fail. */
  constructor(
    createDecoder: () => RecordDecoder,
    writes: BatchWrites,
    refuse: Refuse,
    batchRows: BatchRows,
    listener: LaneListener,
  ) {
    this.#createDecoder = createDecoder;
    this.#writes = writes;
    this.#reportRefused = refuse;
    this.#batchRows = batchRows;
    this.#listener = listener;
    this.#decoder = createDecoder();
  }

  add(record: SinkRecord): void {
    this.#isAdding = true;
    this.#waiting.add(record);
    decodeRecord(this.#decoder, record);
    this.#sealWhenFull();
  }

  /**
   * Decodes a block in place if possible; a long one yields to the event loop. Rejects with the error of a record that
   * cannot be created. The records before it were then added.
   */
  async addBlock(block: SinkRecordBlock): Promise<void> {
    this.#isAdding = true;
    const { messages } = block;
    const turn = new Turn();
    for (let index = 0; index < messages.count;) {
      const begin = index;
      const max = Math.min(messages.count, index + Math.max(1, this.#batchRows.limit - this.#decoder.rowCount));
      const end = sliceEnd(messages, index, max);
      const reached = this.#decoder.addBlock?.(block, index, end) ?? index;
      if (reached > index) this.#waiting.addBlock(block, index, reached);
      index = reached;
      if (index < end) {
        const made = block.sinkRecord(index);
        const record = made instanceof Promise ? await made : made;
        if (record !== undefined) this.add(record);
        index++;
      }
      this.#sealWhenFull();
      if (turn.isOver(bytesBetween(messages, begin, index), index - begin) && index < messages.count) await turn.next();
    }
  }

  /**
   * Waits while a full batch is pending. Returns false after the timeout and if the lane is fenced. Rejects with the
   * failure of an earlier batch.
   */
  async hasRoom(timeoutMs: number): Promise<boolean> {
    const isDone = (): boolean => this.#failure !== undefined || this.#isFenced || this.#sealed.length === 0;
    await this.#until(isDone, timeoutMs);
    this.check();
    return this.#sealed.length === 0 && !this.#isFenced;
  }

  /** Starts a write unless one is in flight or more records of the same batch are expected. */
  start(hasMore = false): void {
    this.#isAdding = false;
    if (hasMore && this.#waiting.count > 0) this.#hold();
    else this.#releaseHold();
    this.#startDraining();
  }

  #hold(): void {
    if (this.#heldUntil !== undefined) return;
    this.#heldUntil = performance.now() + WRITE_MS;
    this.#holding = setTimeout(() => {
      this.#heldUntil = 0;
      this.#startDraining();
    }, WRITE_MS).unref();
  }

  #releaseHold(): void {
    if (this.#heldUntil === undefined) return;
    this.#heldUntil = undefined;
    clearTimeout(this.#holding);
  }

  #startDraining(): void {
    if (this.#writing !== undefined || this.#isFenced || !this.#hasWork()) return;
    this.#writing = this.#drain().finally(() => {
      this.#writing = undefined;
      this.#notify();
    });
  }

  /** Resolves once everything added is stored, after a failure or fencing, or after the timeout. Never rejects; see `check`. */
  async flush(timeoutMs: number): Promise<void> {
    this.start();
    const isDone = (): boolean => this.#isFenced || (!this.#hasWork() && this.#writing === undefined);
    await this.#until(() => this.#failure !== undefined || isDone(), timeoutMs);
  }

  /** First offset of the partition whose record is not stored; `undefined` if all records are stored. */
  firstUnstored(key: string): number | undefined {
    const all = [this.#inFlight, ...this.#sealed.map(({ records }) => records), this.#waiting];
    for (const { firstOffsets } of all) {
      const offset = firstOffsets.get(key);
      if (offset !== undefined) return offset;
    }
    return undefined;
  }

  /**
   * Number of records that are not stored, and for how many milliseconds the batch in flight has been running (0 if
   * there is none).
   */
  unstored(): { readonly records: number; readonly waitedMs: number } {
    const all = [this.#inFlight, ...this.#sealed.map(({ records }) => records), this.#waiting];
    const records = all.reduce((sum, { count }) => sum + count, 0);
    return { records, waitedMs: this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt };
  }

  tablesInFlight(): readonly string[] {
    const parts = this.#decodedInFlight === undefined ? [] : partsOf(this.#decodedInFlight);
    return [...new Set(parts.flatMap((part) => (part.kind === 'rows' ? part.rows.batch.table.name : [])))];
  }

  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Aborts the write in flight and drops pending records, for example when partitions are revoked. */
  async drop(): Promise<void> {
    this.#waiting = new WaitingRecords();
    this.#releaseHold();
    this.#sealed = [];
    this.#decoder.take();
    const ended = this.#writing === undefined || (await this.#abortWrite(this.#writing));
    this.#isFenced = false;
    this.#inFlight = new WaitingRecords();
    if (!ended) this.#failure = new ConnectError('The database neither completed nor rejected an aborted write');
  }

  async #abortWrite(writing: Promise<void>): Promise<boolean> {
    this.#abort.abort();
    const ended = await within(writing, DROP_TIMEOUT_MS);
    this.#abort = new AbortController();
    return ended;
  }

  /** Never rejects: the failure is kept for the next call. */
  async #drain(): Promise<void> {
    const { signal } = this.#abort;
    try {
      while (this.#hasWork() && this.#failure === undefined && !signal.aborted) {
        const batch = this.#sealed.shift() ?? this.#seal();
        this.#inFlight = batch.records;
        this.#decodedInFlight = batch.decoded;
        this.#listener.onWriting?.(batch);
        const startedAt = performance.now();
        this.#startedAt = startedAt;
        await this.#do(batch, signal);
        const ms = performance.now() - startedAt;
        this.#startedAt = undefined;
        this.#decodedInFlight = undefined;
        this.#batchRows.recordWrite(batch.rowCount, ms);
        this.#listener.onWritten?.(batch, ms);
        this.#inFlight = new WaitingRecords();
        this.#notify();
      }
    } catch (error) {
      this.#startedAt = undefined;
      this.#decodedInFlight = undefined;
      // An aborted write is not a failure of the lane.
      if (signal.aborted) return;
      if (error instanceof FencedError) {
        this.#isFenced = true;
        this.#listener.onFenced?.(error);
        return;
      }
      this.#failure = toError(error);
      this.#listener.onFailure();
    }
  }

  async #do(batch: SealedBatch, signal: AbortSignal): Promise<void> {
    const writes = this.#writes;
    switch (writes.kind) {
      case 'parts':
        return this.#write(batch.decoded, writes.write, signal);
      case 'whole':
        return writes.store(batch, signal);
      case 'ordered': {
        const onLeft = (records: WaitingRecords): void => {
          this.#inFlight = records;
        };
        const onDone = (origin: Origin): void => {
          [, this.#inFlight] = this.#inFlight.splitAfter(origin);
          this.#listener.onTablesChanged();
        };
        return new OrderedWrites(writes.attempt, this.#createDecoder, this.#reportRefused).do(
          batch,
          onDone,
          onLeft,
          signal,
        );
      }
    }
  }

  async #write(decoded: Decoded, write: WriteParts, signal: AbortSignal): Promise<void> {
    let refused: readonly Fault[] = decoded.faults;
    for (const part of partsOf(decoded)) {
      const faults = await write(part, signal);
      if (faults.length > 0) refused = [...refused, ...faults];
      if (part.kind === 'statement' && changesTables(part.statement.kind)) {
        const [done, rest] = this.#inFlight.splitAfter(part.statement.origin);
        await this.#refuse(
          done,
          refused.filter(({ origin }) => done.holds(origin)),
        );
        refused = refused.filter(({ origin }) => !done.holds(origin));
        this.#inFlight = rest;
        this.#listener.onTablesChanged();
      }
    }
    await this.#refuse(this.#inFlight, refused);
  }

  async #refuse(records: WaitingRecords, faults: readonly Fault[]): Promise<void> {
    const turn = new Turn();
    for (const [record, error] of await refusals(records, faults)) {
      await this.#reportRefused(record, error);
      if (turn.isOver(messageBytes(record))) await turn.next();
    }
  }

  #sealWhenFull(): void {
    const isFull =
      this.#decoder.rowCount >= this.#batchRows.limit ||
      this.#waiting.count >= MAX_WAITING_RECORDS ||
      this.#waiting.bytes >= MAX_BATCH_BYTES;
    if (!isFull) return;
    this.#sealed.push(this.#seal());
    this.#startDraining();
  }

  #seal(): LaneBatch {
    this.#releaseHold();
    const records = this.#waiting;
    this.#waiting = new WaitingRecords();
    const { rowCount } = this.#decoder;
    return { records, rowCount, decoded: this.#decoder.take() };
  }

  #hasWork(): boolean {
    if (this.#sealed.length > 0) return true;
    const isHeld = this.#heldUntil !== undefined && performance.now() < this.#heldUntil;
    return this.#waiting.count > 0 && !this.#isAdding && !isHeld;
  }

  #notify(): void {
    for (const listener of this.#waiters.splice(0)) listener();
  }

  /** Waits until `condition` returns true, or until the timeout. The condition is checked again when a batch has ended. */
  async #until(condition: () => boolean, timeoutMs: number): Promise<void> {
    if (condition()) return;
    let isOver = false;
    // An AbortController would cost more than decoding a batch of small rows.
    const timer = setTimeout(() => {
      isOver = true;
      this.#notify();
    }, timeoutMs).unref();
    try {
      while (!isOver && !condition()) {
        await new Promise<void>((resolve) => this.#waiters.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
