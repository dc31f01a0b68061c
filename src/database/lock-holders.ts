import { ownStatement } from '../sql/own-statement.ts';
import type { Executor } from './api.ts';

/** Of all sessions of the user, since it is not known which of the server's processes are ours behind a pooler. */
const HOLDERS = ownStatement(
  'health: lock holders',
  `SELECT h.pid, COALESCE(h.application_name, ''), h.xact_start::text, h.query_start::text
  FROM pg_catalog.pg_stat_activity w
  CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS b (pid)
  JOIN pg_catalog.pg_stat_activity h ON h.pid = b.pid
  WHERE w.usename = current_user AND w.datname = current_database() AND w.wait_event_type = 'Lock'
    AND w.application_name = current_setting('application_name')
  ORDER BY w.query_start, h.pid LIMIT 1`,
);

/**
 * Which session holds the lock that a session of this user and application has waited for the longest, as part of a sentence;
 * `undefined`: none waits for a lock. Rejects as `Executor.ask` does.
 */
export async function lockHolder(executor: Executor, signal: AbortSignal): Promise<string | undefined> {
  const [row] = (await executor.ask(HOLDERS, [], { signal })).rows;
  if (row === undefined) return undefined;
  const [pid, application, since, query] = row.map((cell) => cell ?? 'unknown');
  return `the database waits for a lock that pid ${pid ?? ''} (application "${application ?? ''}") holds; its transaction began at ${since ?? ''}, its last query at ${query ?? ''}`;
}
