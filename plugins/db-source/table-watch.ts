import { DatabaseError, ownStatement, quoteTable, type Executor, type OwnStatement } from '../database/index.ts';
import { tableLabel, type SourceTable } from './tables.ts';

/** The state of the database at one point in time. */
export interface DatabaseSnapshot {
  /** The server's clock, in microseconds since the epoch. */
  readonly nowMicros: bigint;
  /** Transactions below `oldest` had ended; those from `next` on had not started. `undefined` if the server does not provide them. */
  readonly transactions: { readonly oldest: bigint; readonly next: bigint } | undefined;
  /** Increases with each promotion of a standby; `undefined` on a standby, and if the server does not provide it. */
  readonly timeline: number | undefined;
  /** Commit time of the last transaction received from an earlier primary, in microseconds since the epoch. */
  readonly replayedMicros: bigint | undefined;
  /** Result of a refresh: true if tables may have changed since the previous refresh. */
  readonly changed: boolean;
}

/**
 * A change of a table updates rows of pg_class, pg_attribute, pg_index or pg_description, which then have a new xmin.
 * An update of statistics does not change the xmin. A sum of hashes detects such changes without transferring the rows,
 * in a few milliseconds for 500 tables.
 */
const FINGERPRINT = `
  WITH relation AS (
    SELECT c.oid, c.xmin FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f') AND c.relpersistence <> 't'
      AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg|_timescaledb)_')
  SELECT concat_ws(',',
    (SELECT sum(hashtextextended(oid || ' ' || xmin, 0)) FROM relation),
    (SELECT sum(hashtextextended(attrelid || ' ' || attnum || ' ' || a.xmin, 0))
      FROM pg_catalog.pg_attribute a JOIN relation ON oid = attrelid WHERE attnum > 0),
    (SELECT sum(hashtextextended(indexrelid || ' ' || i.xmin, 0)) FROM pg_catalog.pg_index i JOIN relation ON oid = indrelid),
    (SELECT sum(hashtextextended(objoid || ' ' || objsubid || ' ' || d.xmin, 0))
      FROM pg_catalog.pg_description d JOIN relation ON oid = objoid WHERE classoid = 'pg_catalog.pg_class'::regclass))`;

const NOW = micros('clock_timestamp()');
/** The timeline, with which the name of a WAL file starts. A standby does not write WAL, so it has no timeline of its own. */
const HISTORY = `CASE WHEN NOT pg_is_in_recovery()
    THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int8 END,
  ${micros('pg_last_xact_replay_timestamp()')}`;
const NO_HISTORY = 'NULL, NULL';

/** The statements from the most to the least informative. Some servers lack WAL file names or snapshots, or deny access to them. */
const STATEMENTS: readonly (readonly [withChanges: OwnStatement, withoutChanges: OwnStatement])[] = [
  [snapshotWith(HISTORY, FINGERPRINT), snapshotWith(HISTORY)],
  [snapshotWith(NO_HISTORY, FINGERPRINT), snapshotWith(NO_HISTORY)],
];
const CLOCK = ownStatement('source: clock', `SELECT ${NOW}`);

function snapshotWith(history: string, changes?: string): OwnStatement {
  const name = `source: snapshot${changes === undefined ? '' : ' with changes of tables'}${history === HISTORY ? ' and timeline' : ''}`;
  const moment = `${NOW}, pg_snapshot_xmin(s), pg_snapshot_xmax(s), ${history}`;
  return ownStatement(
    name,
    `SELECT ${moment}${changes === undefined ? '' : `, (${changes})`} FROM pg_current_snapshot() s`,
  );
}

function micros(time: string): string {
  return `(extract(epoch from ${time}) * 1000000)::int8`;
}

const FACTS = ownStatement(
  'source: facts of tables',
  `
  SELECT n.nspname, c.relname, c.oid, c.relkind, to_json(ARRAY(
    SELECT a.attname::text FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid JOIN pg_catalog.pg_am am ON am.oid = ic.relam
    JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL AND am.amname = 'btree'))::text
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^(pg|_timescaledb)_'`,
);

const VIEWS = ownStatement(
  'source: views',
  `SELECT n.nspname, c.relname
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('v', 'm') AND c.relpersistence <> 't'
    AND n.nspname NOT IN ('information_schema', 'timescaledb_information', 'timescaledb_experimental')
    AND n.nspname !~ '^(pg|_timescaledb)_'
  ORDER BY n.nspname, c.relname LIMIT 1000`,
);

/** Tracks the existing tables with one small query per refresh. Their definitions are read only after a change. */
export class TableWatch {
  readonly #executor: Executor;
  /** Index in STATEMENTS of the first pair that the server supports; after the last pair, only the clock of the server is read. */
  #level = 0;
  #fingerprint: string | null | undefined;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  async refresh(signal?: AbortSignal): Promise<DatabaseSnapshot> {
    const row = await this.#row(0, signal);
    const fingerprint = row[5];
    const changed = !this.#hasSnapshots || fingerprint !== this.#fingerprint;
    this.#fingerprint = fingerprint;
    return { ...momentOf(row), changed };
  }

  /** Takes a snapshot without a check for changes of tables. */
  async snapshot(signal?: AbortSignal): Promise<DatabaseSnapshot> {
    return { ...momentOf(await this.#row(1, signal)), changed: false };
  }

  /** Sets `changed` in the next refresh. */
  invalidate(): void {
    this.#fingerprint = undefined;
  }

  /** Reads all tables with two queries. A table that is dropped between the queries is not included. */
  async tables(): Promise<SourceTable[]> {
    const listed = await this.#executor.catalogue.list();
    const facts = await this.#facts();
    const tables = this.#hasSnapshots ? listed.filter((table) => facts.has(tableLabel(table))) : listed;
    return tables.map((table): SourceTable => {
      const [, , oid, kind, indexed] = facts.get(tableLabel(table)) ?? [];
      return {
        name: table.name,
        columns: table.columns,
        key: table.key,
        source: `${quoteTable(table.name)} t`,
        oid: oid ?? undefined,
        hasXmin: kind === 'r' || kind === 'p',
        // If the server does not provide its indexes, an index that starts with the first column of the key is assumed.
        indexedColumns: typeof indexed === 'string' ? (JSON.parse(indexed) as string[]) : table.key.slice(0, 1),
      };
    });
  }

  /** Names of views, which a source does not read. */
  async views(): Promise<string[]> {
    if (!this.#hasSnapshots) return [];
    const { rows } = await ask(this.#executor, VIEWS);
    return rows.map(([schema, name]) => tableLabel({ name: { schema: schema ?? '', name: name ?? '' } }));
  }

  async #facts(): Promise<Map<string, readonly (string | null)[]>> {
    if (!this.#hasSnapshots) return new Map();
    const { rows } = await ask(this.#executor, FACTS);
    return new Map(rows.map((row) => [tableLabel({ name: { schema: row[0] ?? '', name: row[1] ?? '' } }), row]));
  }

  get #hasSnapshots(): boolean {
    return this.#level < STATEMENTS.length;
  }

  async #row(which: 0 | 1, signal: AbortSignal | undefined): Promise<readonly (string | null)[]> {
    for (let pair = STATEMENTS[this.#level]; pair !== undefined; pair = STATEMENTS[++this.#level]) {
      try {
        return (await ask(this.#executor, pair[which], signal)).rows[0] ?? [];
      } catch (error) {
        if (!(error instanceof DatabaseError) || !isUnsupportedStatement(error)) throw error;
      }
    }
    return (await ask(this.#executor, CLOCK, signal)).rows[0] ?? [];
  }
}

/** Whether the statement failed because a function does not exist or because the user may not call it. */
function isUnsupportedStatement({ scope, sqlstate }: DatabaseError): boolean {
  return scope === 'table' || sqlstate === '42501' || sqlstate === '0A000';
}

function momentOf([now, oldest, next, timeline, replayed]: readonly (string | null)[]): Omit<
  DatabaseSnapshot,
  'changed'
> {
  const hasTransactions = typeof oldest === 'string' && typeof next === 'string';
  return {
    nowMicros: BigInt(now ?? 0),
    transactions: hasTransactions ? { oldest: BigInt(oldest), next: BigInt(next) } : undefined,
    timeline: typeof timeline === 'string' ? Number(timeline) : undefined,
    replayedMicros: typeof replayed === 'string' ? BigInt(replayed) : undefined,
  };
}

/** Runs a statement in a read-only transaction, which takes one round trip and needs little cleanup. */
export async function read(executor: Executor, sql: string, signal?: AbortSignal, timeoutMs?: number) {
  return executor.session((session) => session.query(sql, [], { signal, timeoutMs }), {
    readTransaction: true,
    signal,
  });
}

/** Like `read`, for an internal statement. */
export async function ask(
  executor: Executor,
  statement: OwnStatement,
  signal?: AbortSignal,
  parameters: readonly string[] = [],
) {
  return executor.session((session) => session.ask(statement, parameters, { signal }), {
    readTransaction: true,
    signal,
  });
}
