import { DatabaseError, ownStatement, quoteTable, type Executor, type OwnStatement } from '../../src/index-database.ts';
import { tableLabel, type SourceTable } from './tables.ts';

/** The database at one moment. */
export interface DatabaseSnapshot {
  /** The server's clock, microseconds since the epoch. */
  readonly nowMicros: bigint;
  /**
   * Transactions below `oldest` have ended, those from `next` on had not begun; `undefined` where the server does not tell.
   */
  readonly transactions: { readonly oldest: bigint; readonly next: bigint } | undefined;
  /** Tables may have changed since the snapshot before. */
  readonly changed: boolean;
}

/**
 * Changes of pg_class, pg_attribute, pg_index and pg_description give their rows another xmin (statistics do not): a sum of
 * hashes tells that something changed without sending it, in some milliseconds for 500 tables.
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

const NOW = '(extract(epoch from clock_timestamp()) * 1000000)::int8';
const SNAPSHOT_WITH_CHANGES = ownStatement(
  'source: snapshot with changes of tables',
  `SELECT ${NOW}, pg_snapshot_xmin(s), pg_snapshot_xmax(s), (${FINGERPRINT}) FROM pg_current_snapshot() s`,
);
const SNAPSHOT = ownStatement(
  'source: snapshot',
  `SELECT ${NOW}, pg_snapshot_xmin(s), pg_snapshot_xmax(s) FROM pg_current_snapshot() s`,
);
/** For servers that know no snapshots. */
const CLOCK = ownStatement('source: clock', `SELECT ${NOW}`);

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

/**
 * Knows what tables there are at the cost of one small query per refresh; only what has changed is read anew.
 */
export class TableWatch {
  readonly #executor: Executor;
  #tellsSnapshots = true;
  #fingerprint: string | null | undefined;

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  async refresh(signal?: AbortSignal): Promise<DatabaseSnapshot> {
    const row = await this.#row(SNAPSHOT_WITH_CHANGES, signal);
    const fingerprint = row[3];
    const changed = !this.#tellsSnapshots || fingerprint !== this.#fingerprint;
    this.#fingerprint = fingerprint;
    return { ...momentOf(row), changed };
  }

  /** A snapshot that does not ask for changes of tables. */
  async snapshot(signal?: AbortSignal): Promise<DatabaseSnapshot> {
    return { ...momentOf(await this.#row(SNAPSHOT, signal)), changed: false };
  }

  /** The next refresh says `changed`, whatever it finds. */
  invalidate(): void {
    this.#fingerprint = undefined;
  }

  /** All tables, by two queries. */
  async tables(): Promise<SourceTable[]> {
    const tables = await this.#executor.catalogue.list();
    const facts = await this.#facts();
    return tables.map((table): SourceTable => {
      const [, , oid, kind, indexed] = facts.get(tableLabel(table)) ?? [];
      return {
        name: table.name,
        columns: table.columns,
        key: table.key,
        source: `${quoteTable(table.name)} t`,
        oid: oid ?? undefined,
        tellsWriter: kind === 'r' || kind === 'p',
        // Where the server did not tell, an index is assumed for the first column of the key.
        indexedColumns: typeof indexed === 'string' ? (JSON.parse(indexed) as string[]) : table.key.slice(0, 1),
      };
    });
  }

  async #facts(): Promise<Map<string, readonly (string | null)[]>> {
    if (!this.#tellsSnapshots) return new Map();
    const { rows } = await ask(this.#executor, FACTS);
    return new Map(rows.map((row) => [tableLabel({ name: { schema: row[0] ?? '', name: row[1] ?? '' } }), row]));
  }

  async #row(statement: OwnStatement, signal: AbortSignal | undefined): Promise<readonly (string | null)[]> {
    if (this.#tellsSnapshots) {
      try {
        return (await ask(this.#executor, statement, signal)).rows[0] ?? [];
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.scope !== 'table') throw error;
        this.#tellsSnapshots = false;
      }
    }
    return (await ask(this.#executor, CLOCK, signal)).rows[0] ?? [];
  }
}

function momentOf([now, oldest, next]: readonly (string | null)[]): Omit<DatabaseSnapshot, 'changed'> {
  const tells = typeof oldest === 'string' && typeof next === 'string';
  return {
    nowMicros: BigInt(now ?? 0),
    transactions: tells ? { oldest: BigInt(oldest), next: BigInt(next) } : undefined,
  };
}

/** One statement in a transaction that only reads: one round trip, and a connection that needs little cleaning. */
export async function read(executor: Executor, sql: string, signal?: AbortSignal, timeoutMs?: number) {
  return executor.session((session) => session.query(sql, [], { signal, timeoutMs }), {
    readTransaction: true,
    signal,
  });
}

/** The same with a statement of our own. */
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
