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
import { HeldRead, type Piece } from './held-read.ts';
import { LateRows } from './late-rows.ts';
import { LookBack, type FoundRows } from './look-back.ts';
import { suited, toOffset, type StoredPosition, type TablePosition } from './position.ts';
import { QueryWindow } from './query-window.ts';
import { RecentNumbers } from './recent-numbers.ts';
import { ReleasedTransactions } from './released-transactions.ts';
import { addTie, RowsBehind, type ReadFrom, type Stretch } from './rows-behind.ts';
import type { SourceSettings } from './source-settings.ts';
import { StretchReader } from './stretch-reader.ts';
import type { TableOrder } from './table-order.ts';
import { TableQuery, type Reach } from './table-query.ts';
import type { SourceTable } from './tables.ts';
import type { DatabaseSnapshot } from './table-watch.ts';

/** The first time that PostgreSQL knows, in 4713 BC, in microseconds since the epoch. */
const BEFORE_ALL = -210_866_803_200_000_000n;

type TableReaderOptions = Pick<
  SourceSettings,
  'queryIntervalMs' | 'lookBackMs' | 'holdBackMs' | 'emitsLateRows' | 'initialMicros' | 'notify'
>;

/** What a reader knows that goes on where this one ends. */
export interface Knowledge {
  readonly late: LateRows | undefined;
  readonly behind: RowsBehind | undefined;
}

/** One query under way. */
interface Run {
  readonly held: HeldRead;
  readonly startedAt: number;
  readonly nowMicros: bigint;
  /** Where rows of the recent past are looked through first. */
  readonly lookBack: LookBack | undefined;
  firstAt: bigint | undefined;
  readonly from: ReadFrom;
  /** Rows may have the very time of `from`. */
  isTied: boolean;
}

/**
 * Reads one table in order from a position.
 *
 * settled -> reading a window -> the next window … -> settled, when now is reached. Where rows of the recent past were read, a
 * query begins with a look back at them, in the same snapshot. One class, because each page moves the position, the window, the open
 * query and what is known of late rows together.
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
  readonly #behind: StretchReader | undefined;
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
    known?: Knowledge,
  ) {
    this.#executor = executor;
    this.table = table;
    this.order = order;
    this.#options = options;
    this.#query = new TableQuery(table, order, options.holdBackMs);
    this.#orderIndex = table.columns.indexOf(order.column);
    this.#keyIndexes = (order.key ?? []).map((column) => table.columns.indexOf(column));
    this.#position = suited(stored.position, order.key?.length);
    const hasWindow = options.queryIntervalMs > 0 && order.isIndexed && order.kind === 'time';
    this.#window = new QueryWindow(hasWindow ? options.queryIntervalMs : undefined);
    const { transactions } = snapshot;
    const { lookBackMs } = options;
    this.#numbers =
      order.kind === 'number' && lookBackMs > 0 ? new RecentNumbers(lookBackMs, snapshot, stored) : undefined;
    if (table.tellsWriter && transactions !== undefined && lookBackMs > 0 && order.kind === 'time') {
      const telling = { ...snapshot, transactions };
      this.#late = known?.late ?? new LateRows(lookBackMs, telling, stored);
      if (options.notify) {
        this.#behind = new StretchReader(known?.behind ?? new RowsBehind(telling), {
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

  /** What was sent of the past, for a reader that goes on from here. */
  get knowledge(): Knowledge {
    return { late: this.#late, behind: this.#behind?.behind };
  }

  get toldColumn(): string | undefined {
    return this.#behind === undefined ? undefined : this.order.column.name;
  }

  get isBehind(): boolean {
    return this.#behind?.isBehind === true || this.#behind?.behind.hasHeard === true;
  }

  get isHolding(): boolean {
    return this.#run?.held.isClosed === false || this.#behind?.isHolding === true;
  }

  /** Without an index each new query sorts the whole table again. */
  get needsCursor(): boolean {
    return this.#wasRefusedCursor;
  }

  /** More was sent lately than should be remembered: a look back makes room. */
  get isCrowded(): boolean {
    return this.#late?.isCrowded === true;
  }

  release(): void {
    this.#run?.held.close();
    this.#run = undefined;
    this.#behind?.release();
  }

  tell(stretch: Stretch): void {
    this.#behind?.behind.hear(stretch);
  }

  /** What is being read now is not taken any more: another reader goes on from the position. */
  retire(): void {
    this.#isRetired = true;
  }

  nextStep(snapshot: DatabaseSnapshot): NextStep {
    this.#enter(snapshot);
    if (this.#isLive() || this.#behind?.isBehind === true) return { kind: 'read' };
    this.#settle(snapshot);
    return { kind: 'check', condition: this.#query.isThereMore(this.#position, this.#reach(snapshot)) };
  }

  async read(request: ReadRequest): Promise<Page> {
    // A cursor that was left alone for too long is gone; what it had read is not read again.
    if (this.#run?.held.isClosed === true) this.#run = undefined;
    if (this.#run === undefined) {
      this.#enter(request.snapshot);
      if (this.#behind !== undefined && (await this.#openBehind(request)) === true)
        return this.#readBehind(this.#behind);
      if (this.#settledSnapshot !== request.snapshot && !this.#isLive()) this.#settle(request.snapshot);
    }
    try {
      const run = (this.#run ??= await this.#open(request));
      const piece = await run.held.read();
      if (this.#isRetired) throw new TableChangedError('the table is read by another reader from here on');
      return this.#taken(run, piece && { block: this.#checked(piece), isFull: piece.isFull }, request);
    } catch (error) {
      const run = this.#run;
      this.#run = undefined;
      run?.held.close();
      if (run !== undefined) this.#window.adapt(performance.now() - run.startedAt);
      this.#forgetKey(error);
      throw error;
    }
  }

  /** Rows of the recent past were read, so that others may still be committed among them. */
  #isLive(): boolean {
    return this.#late !== undefined && this.#position.at !== undefined && this.#position.at > this.#late.from;
  }

  #settle(snapshot: DatabaseSnapshot): void {
    this.#settledSnapshot = snapshot;
    this.#late?.settle(snapshot);
    this.#numbers?.note(snapshot.nowMicros, this.#position.at);
  }

  /** No query is under way: what the next one gives is of this snapshot or a later one. */
  #enter(snapshot: DatabaseSnapshot): void {
    this.#late?.enter(snapshot);
    this.#behind?.behind.advance(snapshot);
    const numbers = this.#numbers;
    if (numbers?.enter(snapshot) !== true || this.#position.at === undefined) return;
    const { since } = numbers;
    if (since !== undefined && since >= this.#position.at) return;
    this.#position = { kind: 'from', at: since === undefined ? undefined : since + 1n };
    numbers.goBack(snapshot.nowMicros);
  }

  #taken(run: Run, piece: Piece | undefined, { mayHold }: ReadRequest): Page {
    const isFull = piece?.isFull === true;
    const found = this.#lookBack(run, piece?.block, !isFull);
    const range = piece && { block: piece.block, from: found?.next ?? 0 };
    if (range !== undefined && range.from < range.block.count) run.firstAt ??= this.#at(range.block, range.from);
    // A look back that is not done would have to begin anew.
    if (!run.held.isClosed && run.lookBack?.isDone !== false && !mayHold()) {
      run.held.close();
      this.#wasRefusedCursor = !this.order.isIndexed;
    }
    if (run.held.isClosed) this.#run = undefined;
    if (range !== undefined) this.#advance(range, run);
    const isLast = !isFull && this.#window.reachedNow(run.firstAt, run.nowMicros) && this.#behind?.isBehind !== true;
    if (!isFull) this.#window.adapt(performance.now() - run.startedAt);
    const past = found?.rows;
    const late = past === undefined || !this.#options.emitsLateRows ? [] : past.late;
    const rows = past === undefined ? [] : [...late, ...past.ties];
    return { rows, range, ...this.#offsets(run), lateRows: past?.late.length ?? 0, isLast };
  }

  /** What of the rows lies up to the position and was not sent, and where the others begin; `undefined` after the look back. */
  #lookBack(
    { lookBack, from }: Run,
    block: RowBlock | undefined,
    isEnd: boolean,
  ): { rows: FoundRows | undefined; next: number } | undefined {
    if (lookBack === undefined || lookBack.isDone) return undefined;
    const next = block === undefined ? 0 : lookBack.take(block);
    const rows = lookBack.give(isEnd || (block !== undefined && next < block.count));
    if (lookBack.isDone) for (const writer of lookBack.seen) this.#behind?.behind.readOn(writer, from);
    if (lookBack.isDone && this.#position.kind === 'counted') {
      this.#position = { ...this.#position, rowsAt: lookBack.rowsAt };
    }
    return { rows, next };
  }

  /** A column of the key has another type now, which the values of the position are not of: its time is read again. */
  #forgetKey(error: unknown): void {
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
    const held = await HeldRead.open(this.#executor, sql, size, signal);
    const from = late === undefined ? this.#readFrom() : { at: late.from, tied: undefined };
    return { held, startedAt, nowMicros: snapshot.nowMicros, lookBack, firstAt: undefined, from, isTied: true };
  }

  /** Where a query without a look back begins. */
  #readFrom(): ReadFrom {
    const { kind, at = BEFORE_ALL } = this.#position;
    return kind === 'after' ? { at, tied: new Set() } : { at: at - 1n, tied: undefined };
  }

  /** Up to where rows are found by looking back, or by reading on. */
  #openBehind({ size, signal }: ReadRequest): Promise<boolean> | undefined {
    const { at = BEFORE_ALL } = this.#position;
    const high = (this.#isLive() ? this.#late?.from : undefined) ?? at;
    const low = this.#options.initialMicros ?? BEFORE_ALL;
    return this.#behind?.open(low, high, (stretch) =>
      HeldRead.open(this.#executor, this.#query.behind(stretch, this.#position), size, signal),
    );
  }

  async #readBehind(reader: StretchReader): Promise<Page> {
    try {
      const rows = await reader.read((piece) => {
        if (this.#isRetired) throw new TableChangedError('the table is read by another reader from here on');
        return piece && this.#checked(piece);
      });
      const offset = this.#offset;
      const sent = this.#options.emitsLateRows ? rows : [];
      return { rows: sent, offsetBefore: offset, offsetAfter: offset, lateRows: rows.length, isLast: false };
    } catch (error) {
      reader.release();
      throw error;
    }
  }

  #reach(snapshot: DatabaseSnapshot): Reach {
    return {
      windowMs: this.#window.ms,
      writersFrom: this.#late?.from,
      writtenFrom: this.#behind?.behind.knownFrom,
      writtenBelow:
        this.order.kind === 'number' && this.table.tellsWriter && this.#options.lookBackMs > 0
          ? this.#released.below(snapshot, this.#options.lookBackMs)
          : undefined,
    };
  }

  /** Remembers who wrote rows of the recent past. */
  #noteWriters({ block, from }: RowRange, run: Run, lastAt: bigint): void {
    const late = this.#late;
    const behind = this.#behind?.behind;
    if (behind !== undefined) this.#noteTies({ block, from }, run);
    const writerAt = this.table.columns.length;
    // Times grow within a page: where the last row has no writer none has.
    if (late === undefined || (behind === undefined && block.cell(block.count - 1, writerAt) === null)) return;
    const isRecent = lastAt > late.from;
    for (let index = from; index < block.count; index++) {
      const writer = block.cell(index, writerAt);
      if (writer === null) continue;
      if (isRecent) late.readOn(Number(writer));
      behind?.readOn(Number(writer), run.from);
    }
  }

  /** Rows of the time from which the query reads come first. */
  #noteTies({ block, from }: RowRange, run: Run): void {
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
    this.#noteWriters(range, run, at);
    this.#numbers?.note(run.nowMicros, at);
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
    throw new Error(`the database gave ${text} for a time`);
  }

  /** The rows, when they have the columns that the table is known with. */
  #checked({ block }: Piece): RowBlock {
    checkColumns(this.table, block.fields, 1);
    return block;
  }

  #offsets({ lookBack }: Run): Pick<Page, 'offsetBefore' | 'offsetAfter'> {
    const offsetBefore = this.#offset;
    if (lookBack?.isDone !== false) this.#offset = toOffset(this.stored, this.order.kind);
    return { offsetBefore, offsetAfter: this.#offset };
  }
}
