import type { RowBlock } from '../../../src/data/row-block.ts';
import type { ColumnRole, RowBatch, TableName, WriteReport } from '../../../src/data/row-batch.ts';
import type { TableShape } from '../../../src/data/table-shape.ts';
import type { Dialect } from '../sql/dialects/dialect.ts';
import type { OwnStatement } from '../sql/own-statement.ts';
import type { ProbeDemands, ServerProbe } from './probe-result.ts';

/**
 * Kind of a database, from the mark in its comment (docs/sink.md#tables-and-rows). A database without a mark accepts
 * every format.
 */
export type Engine = 'time-series' | 'relational' | 'unmarked';

/** Determines what happens if a row with the same key is already stored (docs/sink.md#tables-and-rows). */
export type DedupRule = 'override' | 'merge' | 'discard';

export interface StatementOptions {
  /** Aborting cancels the statement on the server and rejects with DatabaseError (57014). */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A result with values in text format; `null` is SQL NULL. `typeOid` is the OID of the type in PostgreSQL. */
export interface QueryResult {
  readonly command: string;
  readonly fields: readonly { readonly name: string; readonly typeOid: number; readonly typeModifier: number }[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Rows affected or returned, according to the command tag. */
  readonly rowCount: number;
}

export interface StreamOptions extends StatementOptions {
  readonly chunkRows: number;
  /** Supported only by sessions with `readTransaction`. */
  readonly gauge?: RowGauge | undefined;
}

/** Limits the amount of a result that is buffered. */
export interface RowGauge {
  /** Limit for the bytes of text in the result, counting one separator per value; further rows are dropped. */
  readonly maxBytes: number;
  /** After this many bytes, `room` is called once, and reading from the server pauses until its promise settles. */
  readonly freeBytes: number;
  /** Resolves when there is room for more; a rejection fails the stream and drops the remaining rows. */
  room(): Promise<void>;
}

/** Statements on one pinned connection. Errors are DatabaseErrors with scope and SQLSTATE. */
export interface Session {
  /** False behind a pooler: settings outside a transaction would stay in a backend that other clients use. */
  readonly keepsSettings: boolean;
  query(sql: string, parameters?: readonly (string | null)[], options?: StatementOptions): Promise<QueryResult>;
  /** Runs an internal statement, with `search_path` set to `pg_catalog, pg_temp` for its duration. */
  ask(
    statement: OwnStatement,
    parameters?: readonly (string | null)[],
    options?: StatementOptions,
  ): Promise<QueryResult>;
  /** Reads a result in chunks of at most `chunkRows` rows through a server-side cursor. */
  stream(sql: string, parameters: readonly (string | null)[], options: StreamOptions): AsyncIterable<QueryResult>;
  /** Runs `work` in a transaction: commits when it resolves, rolls back when it rejects. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/** A session of a single read-only transaction. A statement after a failed one begins a new transaction. */
export interface ReadingSession extends Session {
  /**
   * Reads a result as `stream` does, but leaves the rows in the server's format. `nextRows` returns the maximum number
   * of rows of the next block; the first block with fewer rows is the last one.
   */
  blocks(sql: string, nextRows: () => number, options?: StatementOptions): AsyncIterable<RowBlock>;
}

/** Initial settings of a session. All are reset before the connection is used again. */
export interface SessionOptions {
  readonly timeZone?: string | undefined;
  readonly readOnly?: boolean | undefined;
  /**
   * Runs all statements in a single read-only transaction that is always rolled back; a small result takes one round
   * trip. A statement after a failed one begins a new transaction. Of the other options, only `timeZone` and `signal`
   * apply; an invalid time zone fails the first statement with scope `caller`. Statements that cannot run inside a
   * transaction fail.
   */
  readonly readTransaction?: boolean | undefined;
  readonly statementTimeoutMs?: number | undefined;
  /** Aborting stops waiting for a connection with DatabaseError (57014); statements have their own signals. */
  readonly signal?: AbortSignal | undefined;
}

export interface TableColumn {
  readonly name: string;
  /** As printed by `format_type`: `timestamp(3) with time zone`, `character varying(64)`, `bigint`. */
  readonly type: string;
  readonly typeOid: number;
  /** Qualified type without length or precision: `pg_catalog.timestamptz`. */
  readonly baseType: string;
  /** Schema of the operators that compare two values of the type. */
  readonly operatorSchema: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly role: ColumnRole;
}

export interface Table {
  readonly name: TableName & { readonly schema: string };
  /** In the table's own order. */
  readonly columns: readonly TableColumn[];
  /**
   * Columns of the primary key. Without a primary key, columns of the oldest unique index that has only NOT NULL
   * columns or treats NULLs as equal (NULLS NOT DISTINCT). Keys and indexes that ON CONFLICT cannot use, such as
   * deferrable and partial ones, do not count.
   */
  readonly key: readonly string[];
}

/** Cached definitions of the tables; a cache miss or `refresh` reads them from the database. */
export interface TableCatalogue {
  find(table: TableName): Promise<Table | undefined>;
  refresh(table: TableName): Promise<Table | undefined>;
  /** Like `find` for each table. Tables without `schema` that are not cached are read together, 1,000 per query. */
  findAll(tables: readonly TableName[]): Promise<readonly (Table | undefined)[]>;
  /** Clears the cache. Called after a statement of a user, which may have changed any table. */
  forget(): void;
  /** Capabilities of this database, refreshed at most once a minute. */
  dialect(): Promise<Dialect>;
  list(): Promise<readonly Table[]>;
  /**
   * Creates the table if it does not exist. If it exists and `shape.exact` is set, rejects with DatabaseError of scope
   * `table` if names or order of the columns differ. Concurrent calls for the same table are merged.
   */
  ensure(table: TableName, shape: TableShape, policy: CreationPolicy): Promise<Table>;
}

/** How rows that carry their own schema are written (specification of the JDBC sinks, `insert.mode`). */
export type InsertMode = 'insert' | 'upsert' | 'update';

export interface WritePolicy {
  readonly dedupRule: DedupRule;
  /**
   * Determines how rows that carry their own schema are written.
   * - insert: rows are only added; a duplicate key is an error of the server (23505).
   * - upsert: rows are matched by the batch's key, and with the rule `override`, only their own columns are updated,
   *   not the whole row.
   * - update: stored rows with the batch's key are updated with the columns of the rows; rows without a match count as
   *   discarded.
   *
   * In these modes, a null cell is stored as NULL and never as the column's default. If no mode is set, rows are
   * matched by the table's key, provided that they have its columns.
   */
  readonly insertMode?: InsertMode | undefined;
  /** Determines what happens to a row with a value for a column that the table does not have. */
  readonly unknownColumns: 'fault' | 'ignore';
  /** Determines what happens to a value for a generated column (`generated always`); by default, the row is refused. */
  readonly computedColumns?: 'fault' | 'ignore' | undefined;
  /** Time zone of times in text form without a zone, in PostgreSQL's spelling; default UTC. */
  readonly timeZone?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * Disables COPY and optimistic inserts. Slower, but each statement then shows its full effect, as a rehearsal
   * requires.
   */
  readonly plain?: boolean | undefined;
  /**
   * Stores all rows or none. If the report has faults, nothing was stored, and other rows may be invalid as well.
   * Inside a transaction, the caller has to roll back.
   */
  readonly allOrNothing?: boolean | undefined;
  /**
   * Creates the table if it does not exist, and extends it as needed, within the limits of `growth`: columns and tags
   * are added and `varchar(n)` is widened; types never change (docs/formats.md#tables-of-lines-and-points). Rows that
   * would need another change are reported as faults, for example because a name is too long, a tag is a field in the
   * table, or the user lacks a privilege. If the shape is `exact` and columns may not be added, the table must have
   * these columns in this order. Without `shape`, the table is not changed.
   */
  readonly shape?: TableShape | undefined;
  /** Permitted changes to the table; default: all. */
  readonly growth?: GrowthPolicy | undefined;
}

/** The policy of rows with a known table shape. */
export type GrowingPolicy = WritePolicy & { readonly shape: TableShape };

/** Changes to a table that are permitted when writing rows. */
export interface GrowthPolicy extends CreationPolicy {
  readonly add: boolean;
  readonly widen: boolean;
}

export interface CreationPolicy {
  readonly create: boolean;
  /**
   * If the table needs a change, rejects with scope `table` instead of making it, so that the caller decides when the
   * table is changed.
   */
  readonly deferChanges?: boolean | undefined;
  /** SQL after the column list of CREATE TABLE: `WITH (fillfactor=70)`. From the configuration, never from data. */
  readonly tableOptions?: string | undefined;
}

/** Writes rows to tables; implemented by executors and their transactions. */
export interface TableWriter {
  readonly catalogue: TableCatalogue;
  engine(): Promise<Engine>;
  /**
   * Writes a batch. Concurrent batches may overtake each other. Rows that cannot be stored because of their data are
   * found by bisection and reported as faults; all others are stored. Rejects with DatabaseError of scope
   * `infrastructure` if the outcome is unknown: the caller must not assume that any row was stored, and may write the
   * batch again if the table has a key. Rejects with scope `table` if the table does not exist, cannot be created, or
   * does not match after a refresh of the catalogue. A batch of deletions does not need the table to exist.
   */
  write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport>;
}

export interface TableWrite {
  readonly batch: RowBatch;
  readonly policy: WritePolicy;
}

/** A transaction on one connection. Its operations run one after another, even if the caller does not await them. */
export interface Transaction extends TableWriter {
  /** Runs a statement. If the statement fails, the transaction can only be rolled back. */
  query: Session['query'];
  ask: Session['ask'];
  /** Runs other statements between the writes; if `work` rejects, only these statements are rolled back. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** Runs `work` in a savepoint: if it rejects, its writes are rolled back and the transaction continues. */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

/** The work of a transaction. `server` is the behaviour of its server, if `Executor.probe` was called before. */
export type TransactionWork<T> = (transaction: Transaction, server: ServerProbe | undefined) => Promise<T>;

/** A transaction that is always rolled back, and records its statements. */
export interface Rehearsal extends Transaction {
  /**
   * Aborted when the time limit of the rehearsal expires or the caller's signal is aborted; no further statement runs.
   */
  readonly signal: AbortSignal;
  /** Returns the data-modifying statements since the last call, including failed ones, without their values. */
  takeStatements(): readonly string[];
}

export interface Listener {
  /** Releases the connection; no further notifications are delivered. */
  close(): void;
}

/** Access to a database; executors with equal connection settings share a pool. */
export interface Executor extends TableWriter {
  /**
   * Subscribes to a channel (LISTEN). `onLost` is called once when the connection is lost; later notifications are not
   * delivered. Occupies a connection of the pool until closed.
   */
  listen(channel: string, onNotice: (payload: string) => void, onLost: () => void): Promise<Listener>;
  /**
   * Pins a connection for `work`. Afterwards, the connection is reset and returned to the pool, or closed if it cannot
   * be reset.
   */
  session<T>(work: (session: Session) => Promise<T>, options?: SessionOptions): Promise<T>;
  /** Like `session` with `readTransaction`, for large results. */
  reading<T>(work: (session: ReadingSession) => Promise<T>, options?: Pick<SessionOptions, 'signal'>): Promise<T>;
  query(sql: string, parameters?: readonly (string | null)[], options?: StatementOptions): Promise<QueryResult>;
  ask: Session['ask'];
  /**
   * Finds out how the server behaves, and caches the result. Afterwards, rows are written without COPY if the server
   * keeps the rows of a COPY that is rolled back, and no statements are prepared if a pooler is in between. A server
   * that replaces the first one, or was restarted, is probed when a connection to it is used for the first time.
   * Rejects only if the server is unavailable.
   */
  probe(demands: ProbeDemands): Promise<ServerProbe>;
  /** The result of the last probe; `undefined` before the first one. */
  readonly behaviour: ServerProbe | undefined;
  /**
   * Writes batches of different tables like `write`. Where possible, many tables are written in one round trip and
   * transaction. Does not reject if batches fail: returns one result per batch, in the order of the batches. After a
   * failure that is not specific to one table, the remaining batches are not attempted and get the same failure.
   */
  writeAll(writes: readonly TableWrite[]): Promise<readonly PromiseSettledResult<WriteReport>[]>;
  /**
   * Makes the table match these rows as `write` does, without writing them. A later transaction then need not change
   * tables, which would block others until it ends. Rejects as `write` does.
   */
  prepare(batch: RowBatch, policy: GrowingPolicy): Promise<void>;
  /**
   * Runs `work` in one transaction on one connection. Its changes, including those to tables, are committed when `work`
   * resolves and rolled back when it rejects. Reports and faults are those of `write`; to undo everything because of a
   * fault, `work` must reject. Rejects as `work` and `write` do, and with the error of a failed commit (a deferred
   * constraint: scope `record`). If the connection is lost during the commit, the outcome is unknown. `signal` cancels
   * waiting for a connection and for the commit.
   *
   * `work` must be repeatable. It is repeated after the first failure in `write`, `session` or `attempt`, unless the
   * scope is `infrastructure`, and when the server rolls back because of other transactions (deadlock). Because of
   * repetitions, faults are final only once a later `query` has succeeded. Writing tables in the same order everywhere
   * makes deadlocks rare.
   */
  atomically<T>(work: TransactionWork<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Runs `work` in a transaction that is always rolled back. Its reports and faults are those of a real write. Only the
   * values that it takes from sequences are lost. Locks are held until `work` settles. After `timeoutMs` (default 10
   * seconds), the running statement is cancelled, and no further statement runs. If `work` has not settled one second
   * later, the connection is closed and its backend is terminated.
   */
  rehearse<T>(work: (rehearsal: Rehearsal) => Promise<T>, options?: StatementOptions): Promise<T>;
  close(): Promise<void>;
}
