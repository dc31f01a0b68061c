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

/** How a lane writes its batches. An abort ends each of them soon. */
export type BatchWrites =
  /** Part by part: `write` stores rows of one table or runs one statement, retries included, and resolves with what was refused. */
  | {
      readonly kind: 'parts';
      readonly write: WriteParts;
    }
  /** A batch as a whole; `store` also reports what was refused. */
  | { readonly kind: 'whole'; readonly store: (batch: SealedBatch, signal: AbortSignal) => Promise<void> }
  /** In the order of the records, up to the first one that is refused (`errors.tolerance=none`). */
  | { readonly kind: 'ordered'; readonly attempt: Attempt };

/** Receives the reports of a lane. */
export interface LaneListener {
  /** Called when a store was fenced. */
  readonly onFenced?: (error: FencedError) => void;
  /** Called when a write in the background failed, so that the task gets a turn to say so. */
  readonly onFailure: () => void;
  /** Called when all up to a change of tables is done, and had better not be done again. */
  readonly onTablesChanged: () => void;
  /** Called with each batch that was written, and how long it took. */
  readonly onWritten?: (decoded: Decoded, ms: number) => void;
}

interface LaneBatch extends SealedBatch {
  readonly rowCount: number;
}

/** Bounds what is kept of records that hold no rows (comments, faults). */
const MAX_WAITING_RECORDS = 20_000;
/** Messages of one batch, whose rows are encoded in one go. */
const MAX_BATCH_BYTES = 8_388_608;
/** A write that goes on for this long after it was given up is not to be waited for. */
const DROP_TIMEOUT_MS = 15_000;

/**
 * Writes the records of some partitions, in order: while one batch is with the database the next one is decoded, and what
 * has come until then goes out together. Lanes work side by side, so that the database and this process need not take
 * turns; a partition always stays on its lane. Nothing that is added is refused: callers ask for room first, so that no more
 * than what one poll gave waits behind a batch on its way. Where more records are known to follow, what was added is held back
 * until the batch is full, for 100 ms at most.
 *
 * One class, because what waits, is sealed and is in flight changes together.
 *
 * States: idle -> writing -> idle; fenced -> (drop) idle; failed after an error, for good: the task ends with it.
 */
export class WriteLane {
  readonly #createDecoder: () => RecordDecoder;
  readonly #writes: BatchWrites;
  readonly #reportRefused: Refuse;
  readonly #batchRows: BatchRows;
  readonly #listener: LaneListener;
  readonly #decoder: RecordDecoder;
  /** From the first record that is added until `start`: only full batches go out. */
  #isAdding = false;
  #waiting = new WaitingRecords();
  /** What waits is held back for others that are known to follow, until then at most; by `performance.now()`. */
  #heldUntil: number | undefined;
  #holding: NodeJS.Timeout | undefined;
  #sealed: LaneBatch[] = [];
  #inFlight = new WaitingRecords();
  #given = new AbortController();
  /** To be called when a batch has ended, or a wait for one, and then to be forgotten. */
  #waiters: (() => void)[] = [];
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;
  #isFenced = false;
  /** The batch that is with the database, by `performance.now()`. */
  #beganAt: number | undefined;
  #decodedInFlight: Decoded | undefined;

  /** `refuse` handles a record by Connect's error policy; rejects when the task must fail. */
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

  /** Decodes a record. */
  add(record: SinkRecord): void {
    this.#isAdding = true;
    this.#waiting.add(record);
    decodeRecord(this.#decoder, record);
    this.#sealWhenFull();
  }

  /** Decodes a block, where it lies as far as possible; a long one over several turns of the event loop. After an error it may be added again. */
  async addBlock(block: SinkRecordBlock): Promise<void> {
    this.#isAdding = true;
    const { messages } = block;
    const turn = new Turn();
    for (let index = 0; index < messages.count;) {
      const begin = index;
      const most = Math.min(messages.count, index + Math.max(1, this.#batchRows.most - this.#decoder.rowCount));
      const end = sliceEnd(messages, index, most);
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

  /** Waits while a full batch waits; false when one still does after that time. Rejects with a failure of the batch before. */
  async hasRoom(timeoutMs: number): Promise<boolean> {
    const isDone = (): boolean => this.#failure !== undefined || this.#isFenced || this.#sealed.length === 0;
    await this.#until(isDone, timeoutMs);
    this.check();
    return this.#sealed.length === 0 && !this.#isFenced;
  }

  /** Sends out what was added, unless a write is on its way, which it then follows, or more is to come for the same batch. */
  start(hasMore = false): void {
    this.#isAdding = false;
    if (hasMore && this.#waiting.count > 0) this.#hold();
    else this.#letGo();
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

  #letGo(): void {
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

  /** Resolves when nothing more will be stored without another call, or after that time. Never rejects: see `check`. */
  async flush(timeoutMs: number): Promise<void> {
    this.start();
    const isDone = (): boolean => this.#isFenced || (!this.#hasWork() && this.#writing === undefined);
    await this.#until(() => this.#failure !== undefined || isDone(), timeoutMs);
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

  /** Records that are not stored, and for how long the batch that is with the database has been there (0: none is). */
  unstored(): { readonly records: number; readonly waitedMs: number } {
    const all = [this.#inFlight, ...this.#sealed.map(({ records }) => records), this.#waiting];
    const records = all.reduce((sum, { count }) => sum + count, 0);
    return { records, waitedMs: this.#beganAt === undefined ? 0 : performance.now() - this.#beganAt };
  }

  /** Names of the tables that the batch which is with the database is for. */
  tablesInFlight(): readonly string[] {
    const parts = this.#decodedInFlight === undefined ? [] : partsOf(this.#decodedInFlight);
    return [...new Set(parts.flatMap((part) => (part.kind === 'rows' ? part.rows.batch.table.name : [])))];
  }

  /** Throws what went wrong in the background, if anything did. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Ends the write on its way and forgets what waits: the partitions are gone. */
  async drop(): Promise<void> {
    this.#waiting = new WaitingRecords();
    this.#letGo();
    this.#sealed = [];
    this.#decoder.take();
    const ended = this.#writing === undefined || (await this.#giveUp(this.#writing));
    this.#isFenced = false;
    this.#inFlight = new WaitingRecords();
    if (!ended) this.#failure = new ConnectError('The database neither did nor refused a write that was given up');
  }

  async #giveUp(writing: Promise<void>): Promise<boolean> {
    this.#given.abort();
    const ended = await within(writing, DROP_TIMEOUT_MS);
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
        this.#decodedInFlight = batch.decoded;
        const beganAt = performance.now();
        this.#beganAt = beganAt;
        await this.#do(batch, signal);
        const ms = performance.now() - beganAt;
        this.#beganAt = undefined;
        this.#decodedInFlight = undefined;
        this.#batchRows.wrote(batch.rowCount, ms);
        this.#listener.onWritten?.(batch.decoded, ms);
        this.#inFlight = new WaitingRecords();
        this.#notify();
      }
    } catch (error) {
      this.#beganAt = undefined;
      this.#decodedInFlight = undefined;
      // Nobody waits for a write that was given up.
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
          [, this.#inFlight] = this.#inFlight.splitBehind(origin);
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
        const [done, rest] = this.#inFlight.splitBehind(part.statement.origin);
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
      this.#decoder.rowCount >= this.#batchRows.most ||
      this.#waiting.count >= MAX_WAITING_RECORDS ||
      this.#waiting.bytes >= MAX_BATCH_BYTES;
    if (!isFull) return;
    this.#sealed.push(this.#seal());
    this.#startDraining();
  }

  #seal(): LaneBatch {
    this.#letGo();
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

  /** Waits until `holds`, which only the end of a batch changes, or for that time. */
  async #until(holds: () => boolean, timeoutMs: number): Promise<void> {
    if (holds()) return;
    let isOver = false;
    // Without an AbortController, which costs more than a batch of small rows takes to decode.
    const timer = setTimeout(() => {
      isOver = true;
      this.#notify();
    }, timeoutMs).unref();
    try {
      while (!isOver && !holds()) {
        await new Promise<void>((resolve) => this.#waiters.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
