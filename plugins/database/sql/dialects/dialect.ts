import { ownStatement } from '../own-statement.ts';

/**
 * Capabilities of a database, derived from its version and extensions. server-probe.ts finds out the other properties
 * that matter.
 */
export interface Dialect {
  /** Schema of the function that converts new time-series tables into hypertables. */
  readonly hypertables: { readonly schema: string } | undefined;
  /** Supports `UNIQUE NULLS NOT DISTINCT`, as PostgreSQL does from version 15 on. */
  readonly nullsNotDistinct: boolean;
}

/** Returns one row: the version text, and TimescaleDB's schema if the extension is installed. */
export const DIALECT_QUERY = ownStatement(
  'dialect: version and extensions',
  `SELECT version(), (SELECT n.nspname FROM pg_catalog.pg_extension e
  JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'timescaledb')`,
);

/** Derives the dialect from the result of DIALECT_QUERY. */
export function dialectOf(version: string, timescaleSchema: string | null): Dialect {
  const major = /^PostgreSQL (\d+)/i.exec(version)?.[1];
  return {
    hypertables: timescaleSchema === null ? undefined : { schema: timescaleSchema },
    nullsNotDistinct: major === undefined || Number(major) >= 15,
  };
}
