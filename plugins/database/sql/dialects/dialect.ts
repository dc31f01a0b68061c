import { ownStatement } from '../own-statement.ts';

/**
 * Capabilities of a database, derived from its version. Sluice only acts on `hypertables`; server-probe.ts finds out
 * the other properties that matter.
 */
export interface Dialect {
  readonly name: 'postgresql' | 'timescaledb' | 'cockroachdb' | 'original';
  /** Accepts arrays in binary format as parameters. */
  readonly binaryArrays: boolean;
  /** Supports `INSERT … ON CONFLICT (key) DO UPDATE`. */
  readonly onConflict: boolean;
  /** Supports advisory locks, which keep two processes from creating the same table concurrently. */
  readonly advisoryLocks: boolean;
  /** Supports `DISCARD TEMP`, `DISCARD SEQUENCES` and `UNLISTEN`, so that a session can be reset without closing it. */
  readonly discard: boolean;
  /** Schema of the function that converts new time-series tables into hypertables. */
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

/** CockroachDB accepts advisory locks without effect, and supports only DISCARD ALL (CockroachDB documentation). */
const COCKROACHDB: Dialect = { ...POSTGRESQL, name: 'cockroachdb', advisoryLocks: false, discard: false };

/** The original database is derived from an early CockroachDB; only plain statements have been tested on it. */
const ORIGINAL: Dialect = {
  ...COCKROACHDB,
  name: 'original',
  binaryArrays: false,
  onConflict: false,
};

/** Returns one row: the version text, and TimescaleDB's schema if the extension is installed. */
export const DIALECT_QUERY = ownStatement(
  'dialect: version and extensions',
  `SELECT version(), (SELECT n.nspname FROM pg_catalog.pg_extension e
  JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'timescaledb')`,
);

/**
 * Derives the dialect from the result of DIALECT_QUERY. TimescaleDB differs only in the storage of time-series tables.
 */
export function dialectOf(version: string, timescaleSchema: string | null): Dialect {
  if (/CockroachDB/i.test(version)) return COCKROACHDB;
  if (!/^PostgreSQL/i.test(version)) return ORIGINAL;
  if (timescaleSchema === null) return POSTGRESQL;
  return { ...POSTGRESQL, name: 'timescaledb', hypertables: { schema: timescaleSchema } };
}
