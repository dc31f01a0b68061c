import type { RowBlock } from '../../../src/data/row-block.ts';
import type { ColumnRole, RowBatch, TableName, WriteReport } from '../../../src/data/row-batch.ts';
import type { TableShape } from '../../../src/data/table-shape.ts';
import type { Dialect } from '../sql/dialects/dialect.ts';
import type { OwnStatement } from '../sql/own-statement.ts';

/** Which kind of database the mark says this is (docs/sink.md#tables-and-rows); an unmarked one takes every format. */
export type Engine = 'time-series' | 'relational' | 'unmarked';

/** What a row does to a stored row with the same key (docs/sink.md#tables-and-rows). */
export type DedupRule = 'override' | 'merge' | 'discard';

export interface StatementOptions {
  /** Aborting cancels the statement on the server and rejects with a DatabaseError (57014). */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A result with values as the server's text; `null` is SQL NULL. `typeOid` is PostgreSQL's. */
export interface QueryResult {
  readonly command: string;
  readonly fields: readonly { readonly name: string; readonly typeOid: number; readonly typeModifier: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Rows affected or returned, as the server's command tag says. */
  readonly rowCount: number;
}

export interface StreamOptions extends StatementOptions {
  readonly chunkRows: number;
  /** Only sessions that are one read transaction keep to it. */
  readonly gauge?: RowGauge | undefined;
}

/** How much of a result the caller can hold. */
export interface RowGauge {
  /** Rows behind the one with which the text of all values, and a separator each, has so many bytes are left out: the caller takes no more. */
  readonly maxBytes: number;
  /** With so many bytes `room` is called, once; until its promise settles nothing more is read from the server. */
  readonly freeBytes: number;
  /** A rejection fails the stream; rows that come behind it are dropped. */
  room(): Promise<void>;
}

/** Statements on one pinned connection. Errors are DatabaseError with scope and SQLSTATE. */
export interface Session {
  query(sql: string, parameters?: readonly (string | null)[], options?: StatementOptions): Promise<QueryResult>;
  /** A statement of our own, with `search_path` set to `pg_catalog` while it runs. */
  ask(
    statement: OwnStatement,
    parameters?: readonly (string | null)[],
    options?: StatementOptions,
  ): Promise<QueryResult>;
  /** Reads a result in chunks of at most `chunkRows` rows through a server-side cursor; memory holds one chunk. */
  stream(sql: string, parameters: readonly (string | null)[], options: StreamOptions): AsyncIterable<QueryResult>;
  /** Runs `work` in a transaction: commits when it resolves, rolls back when it rejects. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/** A session that is one read transaction. */
export interface ReadingSession extends Session {
  /**
   * Reads a result as `stream` does, with the rows left as the server sent them. `nextRows` says how many rows the next block may
   * have; the last block is the first one that has fewer.
   */
  blocks(sql: string, nextRows: () => number, options?: StatementOptions): AsyncIterable<RowBlock>;
}

/** Settings a session starts with; all are undone before the connection is used by anyone else. */
export interface SessionOptions {
  readonly timeZone?: string | undefined;
  readonly readOnly?: boolean | undefined;
  /**
   * All statements run in one read-only transaction, which is rolled back at the end whatever came of it: one round trip
   * for a small result. Of the other options only `timeZone` and `signal` count; a zone that is none shows at the first
   * statement, with scope `caller`. Nothing that a transaction does not bear may run.
   */
  readonly readTransaction?: boolean | undefined;
  readonly statementTimeoutMs?: number | undefined;
  /** Aborting ends the wait for a connection with a DatabaseError (57014); statements have signals of their own. */
  readonly signal?: AbortSignal | undefined;
}

/** A column as the database has it. */
export interface TableColumn {
  readonly name: string;
  /** As `format_type` prints it: `timestamp(3) with time zone`, `character varying(64)`, `bigint`. */
  readonly type: string;
  readonly typeOid: number;
  /** The type as SQL with its schema, without length or precision: `pg_catalog.timestamptz`. */
  readonly baseType: string;
  /** Schema of the operators by which two values of the type are compared. */
  readonly operatorSchema: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly role: ColumnRole;
}

export interface Table {
  readonly name: TableName & { readonly schema: string };
  /** In the table's own order. */
  readonly columns: readonly TableColumn[];
  /** Column names of the primary key, else of the first unique constraint over NOT NULL columns or with NULLS NOT DISTINCT; empty without. */
  readonly key: readonly string[];
}

/** What the database knows of its tables, cached; a miss or `refresh` asks the database. */
export interface TableCatalogue {
  find(table: TableName): Promise<Table | undefined>;
  refresh(table: TableName): Promise<Table | undefined>;
  /** The same as `find` of each, with one query for all that are not remembered. */
  findAll(tables: readonly TableName[]): Promise<readonly (Table | undefined)[]>;
  /** Drops all that is remembered: a statement from outside may have changed any table. */
  forget(): void;
  /** What this database can do, asked for at most once a minute. */
  dialect(): Promise<Dialect>;
  /** All user tables, by one query. */
  list(): Promise<readonly Table[]>;
  /**
   * Creates the table when missing; when it exists and `shape.exact`, checks names and order and rejects with a
   * DatabaseError of scope `table` that says what differs. Concurrent calls for one table are merged.
   */
  ensure(table: TableName, shape: TableShape, policy: CreationPolicy): Promise<Table>;
}

/** What rows do that say themselves which columns they have (spec of the JDBC sinks, `insert.mode`). */
export type InsertMode = 'insert' | 'upsert' | 'update';

export interface WritePolicy {
  readonly dedupRule: DedupRule;
  /**
   * insert: rows are only added, equal keys are the server's errors (23505). upsert: rows meet stored rows by the batch's key,
   * and under the rule `override` set the columns that they have, not the whole row. update: stored rows with the batch's key
   * get the columns that the rows have; rows without a stored one count as discarded. Missing values are NULL in all three,
   * never a column's default. Absent: rows meet stored rows by the table's key, if they have its columns.
   */
  readonly insertMode?: InsertMode | undefined;
  /** What happens to a row with a column that the table does not have. */
  readonly unknownColumns: 'fault' | 'ignore';
  /** What happens to a value of a column that the database computes (`generated always`); default: the row is refused. */
  readonly computedColumns?: 'fault' | 'ignore' | undefined;
  /** Zone of times that are text without a zone of their own, in PostgreSQL's spelling; default UTC. */
  readonly timeZone?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Every statement says all that it does: no COPY, and no try as if no stored row had an equal key. Slower. */
  readonly plain?: boolean | undefined;
  /**
   * All rows are stored or none: a report with faults has stored nothing, and its faults are why, not one for each refused row.
   * In a transaction it is for the caller to undo what was stored.
   */
  readonly wholly?: boolean | undefined;
  /**
   * The table is created when it is missing and made to grow where rows need it, as far as `growth` goes: columns and tags are added,
   * `varchar(n)` gets longer; types never change (docs/formats.md#tables-of-lines-and-points). Rows that need what the table cannot be
   * given (a name that is too long, a tag that is a field there, a change that the user has no right to) come back as faults. Where the
   * shape is `exact` and no columns may be added, the table must have these columns in this order. Absent: the table stays as it is.
   */
  readonly shape?: TableShape | undefined;
  /** What may become of the table for the sake of `shape`; default: all of it. */
  readonly growth?: GrowthPolicy | undefined;
}

/** The policy of rows that know what their table must look like. */
export type GrowingPolicy = WritePolicy & { readonly shape: TableShape };

/** What may become of a table for the rows that are to be written. */
export interface GrowthPolicy extends CreationPolicy {
  /** Add the columns that it lacks. */
  readonly add: boolean;
  /** Make `varchar(n)` longer for longer values. */
  readonly widen: boolean;
}

export interface CreationPolicy {
  /** Create it when it is missing. */
  readonly create: boolean;
  /** What would be created or changed rejects with scope `table` instead: the caller has something else to do before it. */
  readonly held?: boolean | undefined;
  /** SQL text behind the parentheses of CREATE TABLE: `WITH (fillfactor=70)`. From the configuration, never from data. */
  readonly tableOptions?: string | undefined;
}

/** What writes rows into tables: an executor, or one transaction of it. */
export interface TableWriter {
  readonly catalogue: TableCatalogue;
  engine(): Promise<Engine>;
  /**
   * Writes a batch; batches in flight at the same time may overtake each other. Rows that the data makes impossible come
   * back as faults (found by bisection), all others are stored.
   * Rejects with a DatabaseError of scope `infrastructure` when nothing can be said about the rows (none of this
   * batch's rows may be assumed stored; writing again is harmless where a key exists), and of scope `table` when the
   * table is missing, cannot be created, or does not fit after one refresh of the catalogue.
   */
  write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport>;
}

/** Rows of one table, and how they are written. */
export interface TableWrite {
  readonly batch: RowBatch;
  readonly policy: WritePolicy;
}

/** One transaction on one connection. What is done in it is done one after another, whatever the caller awaits. */
export interface Transaction extends TableWriter {
  /** One statement; when it fails, all that is left to do is to undo the transaction. */
  query: Session['query'];
  ask: Session['ask'];
  /** Statements between the writes; all of them are undone, and nothing else, when `work` rejects. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Does `work`; when it rejects, what it wrote is undone, and the transaction goes on without it. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

/** A transaction that is undone at its end, and tells what was done in it. */
export interface Rehearsal extends Transaction {
  /** Aborted once the time of the rehearsal is over, or when the caller's signal is. No statement runs then. */
  readonly signal: AbortSignal;
  /** The statements that change something, failed ones too, since they were taken last; values are not in them. */
  takeStatements(): readonly string[];
}

/** Notifications of one channel, on a connection of their own. */
export interface Listener {
  /** Gives the connection back; no notice comes after it. */
  close(): void;
}

/**
 * The one door to a database for connectors and HTTP routes: one (server, database, user). Pools are shared by
 * executors of the same three within the process.
 */
export interface Executor extends TableWriter {
  /**
   * Hears what is notified on a channel (NOTIFY). `onLost` is called once when the connection ends; what was notified
   * from then on is lost. Keeps one connection of the pool until it is closed.
   */
  listen(channel: string, onNotice: (payload: string) => void, onLost: () => void): Promise<Listener>;
  /** Pins one connection for `work`; it is given back clean, or dropped when it cannot be cleaned. */
  session<T>(work: (session: Session) => Promise<T>, options?: SessionOptions): Promise<T>;
  /** The same with `readTransaction`, for large results. */
  reading<T>(work: (session: ReadingSession) => Promise<T>, options?: Pick<SessionOptions, 'signal'>): Promise<T>;
  /** One statement on any connection. */
  query(sql: string, parameters?: readonly (string | null)[], options?: StatementOptions): Promise<QueryResult>;
  /** One statement of our own on any connection. */
  ask: Session['ask'];
  /**
   * Writes batches of different tables, as `write` does one: those that nothing stands in the way of go together, many tables in
   * one round trip and transaction. Never rejects: what became of each batch stands at its place. After a failure that does not concern one
   * table alone the batches that are left are not tried.
   */
  writeAll(writes: readonly TableWrite[]): Promise<readonly PromiseSettledResult<WriteReport>[]>;
  /**
   * Makes the table fit these rows as `write` does, and writes nothing: a transaction that writes them then need not change
   * tables, and keep others waiting until it ends. Rejects as `write` does.
   */
  prepare(batch: RowBatch, policy: GrowingPolicy): Promise<void>;
  /**
   * Does `work` in one transaction on one connection: what it did there is committed when it resolves, tables that were made
   * or changed included, and undone when it rejects. Reports and faults are those of `write`; whether faults undo the rest is
   * for `work` to say, by rejecting. It is done again when the server rolls back for others' sake (deadlock), and after the
   * first statement that fails, so it must bear that. What was refused is known for certain when a later `query` has
   * succeeded. Batches in the same order of tables everywhere make deadlocks rare. Rejects as `work` does, as `write` does, and with
   * the database's error when the commit fails (a deferred constraint: scope `record`). When the connection is lost during
   * the commit nobody knows what became of it. `signal` ends waiting for a connection, and for the commit.
   */
  atomically<T>(work: (transaction: Transaction) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Does `work` in one transaction and undoes it, whatever came of it: reports and faults are those that writing would give. Of
   * it only numbers taken from sequences are left. What it locks is locked for as long as `work` takes, at most `timeoutMs`, 10
   * seconds if absent: then its statement is cancelled, and no other one runs.
   */
  rehearse<T>(work: (rehearsal: Rehearsal) => Promise<T>, options?: StatementOptions): Promise<T>;
  close(): Promise<void>;
}
