import { ownStatement } from '../own-statement.ts';

/** What a database family can do that this program would use; each dialect differs from PostgreSQL with a reason. */
export interface Dialect {
  readonly name: 'postgresql' | 'timescaledb' | 'cockroachdb' | 'original';
  /** Columns of a batch go as binary arrays where their types have a form for it; otherwise everything goes as array literals. */
  readonly binaryArrays: boolean;
  /** `INSERT … ON CONFLICT (key) DO UPDATE`. */
  readonly onConflict: boolean;
  /** Advisory locks, which keep two processes from creating one table at the same time. */
  readonly advisoryLocks: boolean;
  /** `DISCARD TEMP`, `DISCARD SEQUENCES`, `UNLISTEN`: a session's leavings can be removed without dropping it. */
  readonly discard: boolean;
  /** A new time-series table becomes a hypertable, by a function in this schema. */
  readonly hypertables: { readonly schema: string } | undefined;
}

const POSTGRESQL: Dialect = {
  name: 'postgresql',
  binaryArrays: true,
  onConflict: true,
  advisoryLocks: true,
  discard: true,
  hypertables: undefined,
};

/** Advisory locks are accepted and do nothing there, and DISCARD knows only ALL (CockroachDB documentation). */
const COCKROACHDB: Dialect = { ...POSTGRESQL, name: 'cockroachdb', advisoryLocks: false, discard: false };

/** Grew out of an early CockroachDB; nothing beyond plain statements was ever tried on it. */
const ORIGINAL: Dialect = {
  ...COCKROACHDB,
  name: 'original',
  binaryArrays: false,
  onConflict: false,
};

/** One row: the version text, and the schema of TimescaleDB where the current database has it. */
export const DIALECT_QUERY = ownStatement(
  'dialect: version and extensions',
  `SELECT version(), (SELECT n.nspname FROM pg_catalog.pg_extension e
  JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'timescaledb')`,
);

/** The dialect by the answer to DIALECT_QUERY. With TimescaleDB only the storage of time-series tables differs. */
export function dialectOf(version: string, timescaleSchema: string | null): Dialect {
  if (/CockroachDB/i.test(version)) return COCKROACHDB;
  if (!/^PostgreSQL/i.test(version)) return ORIGINAL;
  if (timescaleSchema === null) return POSTGRESQL;
  return { ...POSTGRESQL, name: 'timescaledb', hypertables: { schema: timescaleSchema } };
}
