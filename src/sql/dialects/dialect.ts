/** What a database family can do that this program would use; each dialect differs from PostgreSQL with a reason. */
export interface Dialect {
  readonly name: 'postgresql' | 'timescaledb' | 'cockroachdb' | 'original';
  /** Fixed-width columns of a batch go as binary arrays; otherwise everything goes as array literals. */
  readonly binaryArrays: boolean;
  /** `INSERT … ON CONFLICT (key) DO UPDATE`. */
  readonly onConflict: boolean;
  /** Advisory locks, which keep two processes from creating one table at the same time. */
  readonly advisoryLocks: boolean;
  /** `DISCARD TEMP`, `DISCARD SEQUENCES`, `UNLISTEN`: a session's leavings can be removed without dropping it. */
  readonly discard: boolean;
  /** A new time-series table becomes a hypertable. */
  readonly hypertables: boolean;
}

const POSTGRESQL: Dialect = {
  name: 'postgresql',
  binaryArrays: true,
  onConflict: true,
  advisoryLocks: true,
  discard: true,
  hypertables: false,
};

/** PostgreSQL with an extension: only the storage of time-series tables differs. */
const TIMESCALEDB: Dialect = { ...POSTGRESQL, name: 'timescaledb', hypertables: true };

/** Advisory locks are accepted and do nothing there, and DISCARD knows only ALL (CockroachDB documentation). */
const COCKROACHDB: Dialect = { ...POSTGRESQL, name: 'cockroachdb', advisoryLocks: false, discard: false };

/** Grew out of an early CockroachDB; nothing beyond plain statements was ever tried on it. */
const ORIGINAL: Dialect = {
  ...COCKROACHDB,
  name: 'original',
  binaryArrays: false,
  onConflict: false,
};

/** `version` is `SELECT version()`; `extensions` the names in pg_extension. */
export function dialectOf(version: string, extensions: readonly string[]): Dialect {
  if (/CockroachDB/i.test(version)) return COCKROACHDB;
  if (/^PostgreSQL/i.test(version)) return extensions.includes('timescaledb') ? TIMESCALEDB : POSTGRESQL;
  return ORIGINAL;
}
