import {
  DatabaseError,
  readTimestamp,
  type Executor,
  type QueryResult,
  type SourceCoordinates,
} from '../../src/index.ts';
import {
  checkColumns,
  TableChangedError,
  type FeedReader,
  type NextStep,
  type Page,
  type ReadRequest,
  type Row,
} from './feed-reader.ts';
import { HeldRead } from './held-read.ts';
import { LateRows } from './late-rows.ts';
import { LookBack, type FoundRows } from './look-back.ts';
import { toOffset, type StoredPosition, type TablePosition } from './position.ts';
import type { TableOrder } from './table-order.ts';
import { TableQuery, type Reach } from './table-query.ts';
import type { SourceTable } from './tables.ts';
import type { Look } from './table-watch.ts';

/** A query that took less than this may cover twice the time; one that took ten times as long half of it. */
const QUICK_QUERY_MS = 500;
/** Windows do not grow beyond some 30,000 years. */
const MAX_WINDOW_MS = 1e15;

export interface TableReaderOptions {
  /** 0: up to now in one query. */
  readonly queryIntervalMs: number;
  readonly lookBackMs: number;
  readonly holdBackMs: number;
  readonly emitsLateRows: boolean;
}

/** One query under way. */
interface Run {
  readonly held: HeldRead;
  readonly startedAt: number;
  readonly nowMicros: bigint;
  /** Where rows of the recent past are looked through first. */
  readonly lookBack: LookBack | undefined;
  firstAt: bigint | undefined;
}

/**
 * Reads one table in order from a position.
 *
 * settled -> reading a window -> the next window … -> settled, when now is reached. Where rows of the recent past were read, a
 * query begins with a look back at them, in the same snapshot.
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
  #windowMs: number | undefined;
  #run: Run | undefined;
  #offset: SourceCoordinates;
  #settledLook: Look | undefined;
  #wasRefusedCursor = false;
  #isRetired = false;

  constructor(
    executor: Executor,
    table: SourceTable,
    order: TableOrder,
    stored: StoredPosition,
    options: TableReaderOptions,
    look: Look,
    late?: LateRows,
  ) {
    this.#executor = executor;
    this.table = table;
    this.order = order;
    this.#options = options;
    this.#query = new TableQuery(table, order, options.holdBackMs);
    this.#orderIndex = table.columns.indexOf(order.column);
    this.#keyIndexes = (order.key ?? []).map((column) => table.columns.indexOf(column));
    this.#position = suited(stored.position, order);
    this.#windowMs =
      options.queryIntervalMs === 0 || !order.isIndexed || order.kind !== 'time' ? undefined : options.queryIntervalMs;
    const { transactions } = look;
    if (table.tellsWriter && transactions !== undefined && options.lookBackMs > 0 && order.kind === 'time') {
      const { oldest, next } = transactions;
      this.#late = late ?? new LateRows(options.lookBackMs, look.nowMicros, oldest, next, stored);
    }
    this.#offset = toOffset(this.stored, order.kind);
  }

  get stored(): StoredPosition {
    const { oid } = this.table;
    const late = this.#late;
    if (late === undefined) return { position: this.#position, transaction: undefined, oid };
    const { transaction, from } = late;
    return { position: this.#position, transaction, from, sent: this.#isLive() ? late.sent : undefined, oid };
  }

  /** What was sent of the recent past, for a reader that goes on from here. */
  get lateRows(): LateRows | undefined {
    return this.#late;
  }

  get isHolding(): boolean {
    return this.#run?.held.isClosed === false;
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
  }

  /** What is being read now is not taken any more: another reader goes on from the position. */
  retire(): void {
    this.#isRetired = true;
  }

  nextStep(look: Look): NextStep {
    if (this.#isLive()) return { kind: 'read' };
    this.#settle(look);
    return { kind: 'check', condition: this.#query.isThereMore(this.#position, this.#reach(look)) };
  }

  async read(request: ReadRequest): Promise<Page> {
    // A cursor that was left alone for too long is gone; what it had read is not read again.
    if (this.#run?.held.isClosed === true) this.#run = undefined;
    if (this.#run === undefined && this.#settledLook !== request.look && !this.#isLive()) this.#settle(request.look);
    try {
      const run = (this.#run ??= await this.#open(request));
      const piece = await run.held.read();
      if (this.#isRetired) throw new TableChangedError('the table is read by another reader from here on');
      return this.#taken(run, this.#checked(piece), request);
    } catch (error) {
      const run = this.#run;
      this.#run = undefined;
      run?.held.close();
      if (run !== undefined) this.#adaptWindow(performance.now() - run.startedAt);
      this.#distrustKey(error);
      throw error;
    }
  }

  /** Rows of the recent past were read, so that others may still be committed among them. */
  #isLive(): boolean {
    return this.#late !== undefined && this.#position.at !== undefined && this.#position.at > this.#late.from;
  }

  #settle(look: Look): void {
    this.#settledLook = look;
    this.#late?.settle(look);
  }

  #taken(run: Run, all: readonly Row[], { maxRows, mayHold }: ReadRequest): Page {
    const isFull = all.length === maxRows;
    const found = this.#lookBack(run, all, !isFull);
    const rows = found === undefined ? all : all.slice(found.next);
    run.firstAt ??= rows[0] === undefined ? undefined : this.#at(rows[0]);
    // A look back that is not done would have to begin anew.
    if (!run.held.isClosed && run.lookBack?.isDone !== false && !mayHold()) {
      run.held.close();
      this.#wasRefusedCursor = !this.order.isIndexed;
    }
    if (run.held.isClosed) this.#run = undefined;
    this.#advance(rows);
    const isLast = !isFull && this.#reachedNow(run);
    if (!isFull) this.#adaptWindow(performance.now() - run.startedAt);
    const past = found?.rows;
    const late = past === undefined || !this.#options.emitsLateRows ? [] : past.late;
    const sent = past === undefined ? rows : [...late, ...past.ties, ...rows];
    return { ...this.#page(sent, run), lateRows: past?.late.length ?? 0, isLast };
  }

  /** What of the rows lies up to the position and was not sent, and where the others begin; `undefined` after the look back. */
  #lookBack(
    { lookBack }: Run,
    all: readonly Row[],
    isEnd: boolean,
  ): { rows: FoundRows | undefined; next: number } | undefined {
    if (lookBack === undefined || lookBack.isDone) return undefined;
    const next = lookBack.take(all);
    const rows = lookBack.give(isEnd || next < all.length);
    if (lookBack.isDone && this.#position.kind === 'counted') {
      this.#position = { ...this.#position, rowsAt: lookBack.rowsAt };
    }
    return { rows, next };
  }

  /** A column of the key has another type now, which the values of the position are not of: its time is read again. */
  #distrustKey(error: unknown): void {
    const isValue = error instanceof DatabaseError && error.sqlstate?.startsWith('22') === true;
    if (isValue && this.#position.kind === 'after') this.#position = { kind: 'from', at: this.#position.at };
  }

  async #open({ maxRows, signal, look }: ReadRequest): Promise<Run> {
    const late = this.#isLive() ? this.#late : undefined;
    const reach = this.#reach(look);
    const sql =
      late === undefined
        ? this.#query.rows(this.#position, reach)
        : this.#query.lookBack(this.#position, late.from, late.transaction, reach);
    const rowsAt = this.#position.kind === 'counted' ? this.#position.rowsAt : 0;
    const lookBack = late === undefined ? undefined : new LookBack(look, late, rowsAt, this.table.columns.length);
    const startedAt = performance.now();
    const held = await HeldRead.open(this.#executor, sql, maxRows, signal);
    return { held, startedAt, nowMicros: look.nowMicros, lookBack, firstAt: undefined };
  }

  #reach(look: Look): Reach {
    return {
      windowMs: this.#windowMs,
      writersFrom: this.#late?.from,
      writtenBelow:
        this.order.kind === 'number' && this.table.tellsWriter && this.#options.lookBackMs > 0
          ? this.#released.below(look, this.#options.lookBackMs)
          : undefined,
    };
  }

  /** Remembers who wrote rows of the recent past. */
  #noteWriters(rows: readonly Row[]): void {
    const late = this.#late;
    const writerAt = this.table.columns.length;
    // Times grow within a page: where the last row has no writer none has.
    if (late === undefined || (rows.at(-1)?.[writerAt] ?? null) === null) return;
    for (const row of rows) {
      const writer = row[writerAt] ?? null;
      if (writer !== null) late.readOn(Number(writer));
    }
  }

  #advance(rows: readonly Row[]): void {
    const last = rows.at(-1);
    if (last === undefined) return;
    this.#noteWriters(rows);
    const at = this.#at(last);
    if (this.order.key !== undefined) {
      this.#position = { kind: 'after', at, key: this.#keyIndexes.map((index) => last[index] ?? '') };
      return;
    }
    const text = last[this.#orderIndex];
    let rowsAt = 1;
    while (rowsAt < rows.length && rows[rows.length - 1 - rowsAt]?.[this.#orderIndex] === text) rowsAt++;
    const before = this.#position;
    if (rowsAt === rows.length && before.kind === 'counted' && before.at === at) rowsAt += before.rowsAt;
    this.#position = { kind: 'counted', at, rowsAt };
  }

  #at(row: Row): bigint {
    const text = row[this.#orderIndex] ?? '';
    if (this.order.kind === 'number') return BigInt(text);
    const micros = readTimestamp(text);
    if (typeof micros === 'number' || typeof micros === 'bigint') return BigInt(micros);
    throw new Error(`the database gave ${text} for a time`);
  }

  /** Whether the query that ended went up to now, by the clock of the server. */
  #reachedNow({ firstAt, nowMicros }: Run): boolean {
    if (this.#windowMs === undefined || firstAt === undefined) return true;
    return firstAt + BigInt(this.#windowMs) * 1000n >= nowMicros;
  }

  #adaptWindow(tookMs: number): void {
    if (this.#windowMs === undefined) return;
    if (tookMs < QUICK_QUERY_MS) this.#windowMs = Math.min(this.#windowMs * 2, MAX_WINDOW_MS);
    else if (tookMs > QUICK_QUERY_MS * 10) {
      this.#windowMs = Math.max(Math.floor(this.#windowMs / 2), this.#options.queryIntervalMs);
    }
  }

  /** The rows, when they have the columns that the table is known with. */
  #checked(piece: QueryResult | undefined): readonly Row[] {
    if (piece === undefined) return [];
    checkColumns(this.table, piece.fields, 1);
    return piece.rows;
  }

  #page(rows: readonly Row[], { lookBack }: Run): Pick<Page, 'rows' | 'offsetBefore' | 'offsetAfter'> {
    const offsetBefore = this.#offset;
    if (lookBack?.isDone !== false) this.#offset = toOffset(this.stored, this.order.kind);
    return { rows, offsetBefore, offsetAfter: this.#offset };
  }
}

/** A position of the other kind (the table's key came or went) starts again at its time: rows of that time come twice. */
function suited(position: TablePosition, { key }: TableOrder): TablePosition {
  if (position.kind === 'from') return position;
  const fits = position.kind === 'after' ? position.key.length === key?.length : key === undefined;
  return fits ? position : { kind: 'from', at: position.at };
}

/**
 * Which transactions rows are taken of where order must not be broken: those before the oldest that still runs, and at the latest
 * after the delay all that had begun.
 */
class ReleasedTransactions {
  #seen: { readonly at: bigint; readonly next: bigint }[] = [];
  #released = 0n;

  below({ nowMicros, transactions }: Look, delayMs: number): bigint | undefined {
    if (transactions === undefined) return undefined;
    if (this.#seen.at(-1)?.at !== nowMicros) this.#seen.push({ at: nowMicros, next: transactions.next });
    const due = nowMicros - BigInt(delayMs) * 1000n;
    while (this.#seen[0] !== undefined && this.#seen[0].at <= due) this.#released = this.#seen.shift()?.next ?? 0n;
    return this.#released > transactions.oldest ? this.#released : transactions.oldest;
  }
}
