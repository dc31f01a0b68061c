import type { SourceCoordinates } from '../../src/index.ts';
import { DatabaseError, readTimestamp, type Executor, type RowBlock } from '../database/index.ts';
import {
  checkColumns,
  TableChangedError,
  type FeedReader,
  type NextStep,
  type Page,
  type ReadRequest,
  type Row,
  type RowRange,
} from './feed-reader.ts';
import { OpenCursor, type Chunk } from './open-cursor.ts';
import { LateRows } from './late-rows.ts';
import { LookBack, type FoundRows } from './look-back.ts';
import { adaptToKey, toOffset, type StoredPosition, type TablePosition } from './position.ts';
import { QueryWindow } from './query-window.ts';
import { RecentNumbers } from './recent-numbers.ts';
import { ReleasedTransactions } from './released-transactions.ts';
import { addTie, NotifiedRanges, type ReadFrom, type TimeRange } from './notified-ranges.ts';
import type { SourceSettings } from './source-settings.ts';
import { NotifiedRangeReader } from './notified-range-reader.ts';
import type { TableOrder } from './table-order.ts';
import { TableQuery, type QueryBounds } from './table-query.ts';
import type { SourceTable } from './tables.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

/** PostgreSQL's earliest time, in 4713 BC, in microseconds since the epoch. */
const EARLIEST_MICROS = -210_866_803_200_000_000n;

type TableReaderOptions = Pick<
  SourceSettings,
  'queryIntervalMs' | 'lookBackMs' | 'holdBackMs' | 'emitsLateRows' | 'initialMicros' | 'notify'
>;

/** The state that the next reader of the table takes over. */
export interface ReaderState {
  readonly late: LateRows | undefined;
  readonly ranges: NotifiedRanges | undefined;
}

/** A running query. */
interface Run {
  readonly cursor: OpenCursor;
  readonly startedAt: number;
  readonly nowMicros: bigint;
  /** Set if the query first looks back at rows of the recent past. */
  readonly lookBack: LookBack | undefined;
  firstAt: bigint | undefined;
  readonly from: ReadFrom;
  /** True if further rows may have the time of `from`. */
  isTied: boolean;
}

/**
 * Reads a table in order, starting from a position. If rows of the recent past were read, a query starts with a look back at
 * these rows in the same snapshot.
 *
 * settled -> reading a window -> reading the next window … -> settled, when the current time is reached
 */
export class TableReader implements FeedReader {
  readonly table: SourceTable;
  readonly order: TableOrder;
  readonly #executor: Executor;
  readonly #options: TableReaderOptions;
  readonly #query: TableQuery;
  readonly #orderIndex: number;
  readonly #keyIndexes: readonly number[];
  readonly #released = new ReleasedTransactions();
  #position: TablePosition;
  #late: LateRows | undefined;
  readonly #ranges: NotifiedRangeReader | undefined;
  readonly #window: QueryWindow;
  readonly #numbers: RecentNumbers | undefined;
  #run: Run | undefined;
  #offset: SourceCoordinates;
  #settledSnapshot: DatabaseSnapshot | undefined;
  #wasRefusedCursor = false;
  #isRetired = false;

  constructor(
    executor: Executor,
    table: SourceTable,
    order: TableOrder,
    stored: StoredPosition,
    options: TableReaderOptions,
    snapshot: DatabaseSnapshot,
    previous?: ReaderState,
  ) {
    this.#executor = executor;
    this.table = table;
    this.order = order;
    this.#options = options;
    this.#query = new TableQuery(table, order, options.holdBackMs);
    this.#orderIndex = table.columns.indexOf(order.column);
    this.#keyIndexes = (order.key ?? []).map((column) => table.columns.indexOf(column));
    this.#position = adaptToKey(stored.position, order.key?.length);
    const hasWindow = options.queryIntervalMs > 0 && order.isIndexed && order.kind === 'time';
    this.#window = new QueryWindow(hasWindow ? options.queryIntervalMs : undefined);
    const { transactions } = snapshot;
    const { lookBackMs } = options;
    this.#numbers =
      order.kind === 'number' && lookBackMs > 0 ? new RecentNumbers(lookBackMs, snapshot, stored) : undefined;
    if (table.hasXmin && transactions !== undefined && lookBackMs > 0 && order.kind === 'time') {
      const current = { ...snapshot, transactions };
      this.#late = previous?.late ?? new LateRows(lookBackMs, current, stored);
      if (options.notify) {
        this.#ranges = new NotifiedRangeReader(previous?.ranges ?? new NotifiedRanges(current), {
          at: (row) => this.#atOf(row[this.#orderIndex]),
          keyText: (row) => this.#keyText(row),
          writer: (row) => Number(row[table.columns.length]),
        });
      }
    }
    this.#enter(snapshot);
    this.#offset = toOffset(this.stored, order.kind);
  }

  get stored(): StoredPosition {
    const { oid } = this.table;
    const position = this.#position;
    const late = this.#late;
    if (late === undefined) return { position, transaction: undefined, ...this.#numbers?.stored, oid };
    const { transaction, from, timeline } = late;
    return { position, transaction, from, sent: this.#isLive() ? late.sent : undefined, timeline, oid };
  }

  /** The state that records which recent rows were sent. The next reader continues with it from this position. */
  get readerState(): ReaderState {
    return { late: this.#late, ranges: this.#ranges?.ranges };
  }

  get notifiedColumn(): string | undefined {
    return this.#ranges === undefined ? undefined : this.order.column.name;
  }

  get hasUnreadRanges(): boolean {
    return this.#ranges?.hasUnreadRanges === true || this.#ranges?.ranges.hasPending === true;
  }

  get hasOpenCursor(): boolean {
    return this.#run?.cursor.isClosed === false || this.#ranges?.hasOpenCursor === true;
  }

  /** True if a cursor had to be closed early and the table has no index, so that each new query sorts the whole table again. */
  get needsCursor(): boolean {
    return this.#wasRefusedCursor;
  }

  /** True if too many recent transactions are recorded. A look back removes them. */
  get isCrowded(): boolean {
    return this.#late?.isCrowded === true;
  }

  release(): void {
    this.#run?.cursor.close();
    this.#run = undefined;
    this.#ranges?.release();
  }

  addRange(range: TimeRange): void {
    this.#ranges?.ranges.notify(range);
  }

  /** Discards the page that is being read, because another reader continues from the position. */
  retire(): void {
    this.#isRetired = true;
  }

  nextStep(snapshot: DatabaseSnapshot): NextStep {
    this.#enter(snapshot);
    if (this.#isLive() || this.#ranges?.hasUnreadRanges === true) return { kind: 'read' };
    this.#settle(snapshot);
    return { kind: 'check', condition: this.#query.hasNewRows(this.#position, this.#reach(snapshot)) };
  }

  async read(request: ReadRequest): Promise<Page> {
    // The cursor may have been closed because it was idle. A new query continues from the position.
    if (this.#run?.cursor.isClosed === true) this.#run = undefined;
    if (this.#run === undefined) {
      this.#enter(request.snapshot);
      if (this.#ranges !== undefined && (await this.#openRanges(request)) === true)
        return this.#readRanges(this.#ranges);
      if (this.#settledSnapshot !== request.snapshot && !this.#isLive()) this.#settle(request.snapshot);
    }
    try {
      const run = (this.#run ??= await this.#open(request));
      const chunk = await run.cursor.read();
      if (this.#isRetired) throw new TableChangedError('the table is now read by another reader');
      return this.#toPage(run, chunk && { block: this.#checked(chunk), isFull: chunk.isFull }, request);
    } catch (error) {
      const run = this.#run;
      this.#run = undefined;
      run?.cursor.close();
      if (run !== undefined) this.#window.adapt(performance.now() - run.startedAt);
      this.#dropKey(error);
      throw error;
    }
  }

  /** Returns true if rows of the recent past were read. Further rows with earlier times may then still be committed. */
  #isLive(): boolean {
    return this.#late !== undefined && this.#position.at !== undefined && this.#position.at > this.#late.from;
  }

  #settle(snapshot: DatabaseSnapshot): void {
    this.#settledSnapshot = snapshot;
    this.#late?.settle(snapshot);
    this.#numbers?.record(snapshot.nowMicros, this.#position.at);
  }

  /** Applies a snapshot. Called while no query is running, so that the next query reads this snapshot or a later one. */
  #enter(snapshot: DatabaseSnapshot): void {
    this.#late?.enter(snapshot);
    this.#ranges?.ranges.advance(snapshot);
    const numbers = this.#numbers;
    if (numbers?.enter(snapshot) !== true || this.#position.at === undefined) return;
    const { since } = numbers;
    if (since !== undefined && since >= this.#position.at) return;
    this.#position = { kind: 'from', at: since === undefined ? undefined : since + 1n };
    numbers.rewind(snapshot.nowMicros);
  }

  #toPage(run: Run, chunk: Chunk | undefined, { mayKeepCursor }: ReadRequest): Page {
    const isFull = chunk?.isFull === true;
    const found = this.#lookBack(run, chunk?.block, !isFull);
    const range = chunk && { block: chunk.block, from: found?.next ?? 0 };
    if (range !== undefined && range.from < range.block.count) run.firstAt ??= this.#at(range.block, range.from);
    // The cursor stays open during a look back, because an incomplete look back would have to start over.
    if (!run.cursor.isClosed && run.lookBack?.isDone !== false && !mayKeepCursor()) {
      run.cursor.close();
      this.#wasRefusedCursor = !this.order.isIndexed;
    }
    if (run.cursor.isClosed) this.#run = undefined;
    if (range !== undefined) this.#advance(range, run);
    const isLast =
      !isFull && this.#window.reachedNow(run.firstAt, run.nowMicros) && this.#ranges?.hasUnreadRanges !== true;
    if (!isFull) this.#window.adapt(performance.now() - run.startedAt);
    const past = found?.rows;
    const late = past === undefined || !this.#options.emitsLateRows ? [] : past.late;
    const rows = past === undefined ? [] : [...late, ...past.ties];
    return { rows, range, ...this.#offsets(run), lateRows: past?.late.length ?? 0, isLast };
  }

  /** The unsent rows up to the position, and the index of the first row after it; `undefined` if the look back is already done. */
  #lookBack(
    { lookBack, from }: Run,
    block: RowBlock | undefined,
    isEnd: boolean,
  ): { rows: FoundRows | undefined; next: number } | undefined {
    if (lookBack === undefined || lookBack.isDone) return undefined;
    const next = block === undefined ? 0 : lookBack.take(block);
    const rows = lookBack.takeFound(isEnd || (block !== undefined && next < block.count));
    if (lookBack.isDone) for (const writer of lookBack.seen) this.#ranges?.ranges.recordReadFrom(writer, from);
    if (lookBack.isDone && this.#position.kind === 'counted') {
      this.#position = { ...this.#position, rowsAt: lookBack.rowsAt };
    }
    return { rows, next };
  }

  /** If the type of a key column changed, the key of the position is invalid; reading resumes at the position's value. */
  #dropKey(error: unknown): void {
    const isValue = error instanceof DatabaseError && error.sqlstate?.startsWith('22') === true;
    if (isValue && this.#position.kind === 'after') this.#position = { kind: 'from', at: this.#position.at };
  }

  async #open({ size, signal, snapshot }: ReadRequest): Promise<Run> {
    const late = this.#isLive() ? this.#late : undefined;
    const reach = this.#reach(snapshot);
    const sql =
      late === undefined
        ? this.#query.rows(this.#position, reach)
        : this.#query.lookBack(this.#position, late.from, late.transaction, reach);
    const rowsAt = this.#position.kind === 'counted' ? this.#position.rowsAt : 0;
    const lookBack = late === undefined ? undefined : new LookBack(snapshot, late, rowsAt, this.table.columns.length);
    const startedAt = performance.now();
    const cursor = await OpenCursor.open(this.#executor, sql, size, signal);
    const from = late === undefined ? this.#readFrom() : { at: late.from, tied: undefined };
    return { cursor, startedAt, nowMicros: snapshot.nowMicros, lookBack, firstAt: undefined, from, isTied: true };
  }

  /** The start of a query without a look back. */
  #readFrom(): ReadFrom {
    const { kind, at = EARLIEST_MICROS } = this.#position;
    return kind === 'after' ? { at, tied: new Set() } : { at: at - 1n, tied: undefined };
  }

  /** Opens the next notified range, limited to times that neither a look back nor normal reading covers. */
  #openRanges({ size, signal }: ReadRequest): Promise<boolean> | undefined {
    const { at = EARLIEST_MICROS } = this.#position;
    const high = (this.#isLive() ? this.#late?.from : undefined) ?? at;
    const low = this.#options.initialMicros ?? EARLIEST_MICROS;
    return this.#ranges?.open(low, high, (range) =>
      OpenCursor.open(this.#executor, this.#query.inRange(range, this.#position), size, signal),
    );
  }

  async #readRanges(reader: NotifiedRangeReader): Promise<Page> {
    try {
      const rows = await reader.read((chunk) => {
        if (this.#isRetired) throw new TableChangedError('the table is now read by another reader');
        return chunk && this.#checked(chunk);
      });
      const offset = this.#offset;
      const sent = this.#options.emitsLateRows ? rows : [];
      return { rows: sent, offsetBefore: offset, offsetAfter: offset, lateRows: rows.length, isLast: false };
    } catch (error) {
      reader.release();
      throw error;
    }
  }

  #reach(snapshot: DatabaseSnapshot): QueryBounds {
    return {
      windowMs: this.#window.ms,
      writersFrom: this.#late?.from,
      writtenFrom: this.#ranges?.ranges.knownFrom,
      writtenBelow:
        this.order.kind === 'number' && this.table.hasXmin && this.#options.lookBackMs > 0
          ? this.#released.below(snapshot, this.#options.lookBackMs)
          : undefined,
    };
  }

  /** Records the transactions that wrote rows of the recent past. */
  #recordWriters({ block, from }: RowRange, run: Run, lastAt: bigint): void {
    const late = this.#late;
    const ranges = this.#ranges?.ranges;
    if (ranges !== undefined) this.#recordTies({ block, from }, run);
    const writerAt = this.table.columns.length;
    // Only recent rows have a writer, and times increase within a page. If the last row has no writer, no row has one.
    if (late === undefined || (ranges === undefined && block.cell(block.count - 1, writerAt) === null)) return;
    const isRecent = lastAt > late.from;
    for (let index = from; index < block.count; index++) {
      const writer = block.cell(index, writerAt);
      if (writer === null) continue;
      if (isRecent) late.recordSent(Number(writer));
      ranges?.recordReadFrom(Number(writer), run.from);
    }
  }

  /** Records the keys of the rows whose time is `from.at`, where the query begins to read; these are the first rows. */
  #recordTies({ block, from }: RowRange, run: Run): void {
    if (run.from.tied === undefined) return;
    for (let index = from; run.isTied && index < block.count; index++) {
      run.isTied = this.#at(block, index) === run.from.at;
      if (run.isTied) addTie(run.from, this.#keyText(block.row(index)));
    }
  }

  #keyText(row: Row): string {
    return JSON.stringify(this.#keyIndexes.map((index) => row[index]));
  }

  #advance(range: RowRange, run: Run): void {
    const { block, from } = range;
    const last = block.count - 1;
    if (last < from) return;
    const at = this.#at(block, last);
    this.#recordWriters(range, run, at);
    this.#numbers?.record(run.nowMicros, at);
    if (this.order.key !== undefined) {
      this.#position = { kind: 'after', at, key: this.#keyIndexes.map((index) => block.cell(last, index) ?? '') };
      return;
    }
    const text = block.cell(last, this.#orderIndex);
    let first = last;
    while (first > from && block.cell(first - 1, this.#orderIndex) === text) first--;
    let rowsAt = last - first + 1;
    const before = this.#position;
    if (first === from && before.kind === 'counted' && before.at === at) rowsAt += before.rowsAt;
    this.#position = { kind: 'counted', at, rowsAt };
  }

  #at(block: RowBlock, index: number): bigint {
    return this.#atOf(block.cell(index, this.#orderIndex));
  }

  #atOf(cell: string | null | undefined): bigint {
    const text = cell ?? '';
    if (this.order.kind === 'number') return BigInt(text);
    const micros = readTimestamp(text);
    if (typeof micros === 'number' || typeof micros === 'bigint') return BigInt(micros);
    throw new Error(`the database returned ${text} as a time`);
  }

  /** Returns the rows of a chunk. Throws a TableChangedError if they do not have the known columns. */
  #checked({ block }: Chunk): RowBlock {
    checkColumns(this.table, block.fields, 1);
    return block;
  }

  #offsets({ lookBack }: Run): Pick<Page, 'offsetBefore' | 'offsetAfter'> {
    const offsetBefore = this.#offset;
    if (lookBack?.isDone !== false) this.#offset = toOffset(this.stored, this.order.kind);
    return { offsetBefore, offsetAfter: this.#offset };
  }
}
