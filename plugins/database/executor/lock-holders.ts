import { ownStatement } from '../sql/own-statement.ts';
import type { Executor } from './api.ts';

/**
 * Selects what one of the waiting sessions of this user and application waits for. Sessions are not selected by PID,
 * because the backend PIDs of our connections are unknown behind a pooler. Lock holders that are waiting themselves
 * come last. The pid is 0 if a prepared transaction holds the lock, and NULL if a commit waits for a standby.
 */
const HOLDERS = ownStatement(
  'health: lock holders',
  `SELECT b.pid, h.application_name, h.xact_start::text, h.query_start::text, w.wait_event = 'SyncRep'
  FROM pg_catalog.pg_stat_activity w
  LEFT JOIN LATERAL unnest(CASE WHEN w.wait_event_type = 'Lock' THEN pg_blocking_pids(w.pid) END) AS b (pid) ON true
  LEFT JOIN pg_catalog.pg_stat_activity h ON h.pid = b.pid
  WHERE w.usename = current_user AND w.datname = current_database() AND (b.pid IS NOT NULL OR w.wait_event = 'SyncRep')
    AND w.application_name = current_setting('application_name')
    AND ($1 = '[]' OR EXISTS (SELECT FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation
      WHERE l.pid = w.pid AND c.relname IN (SELECT t::name FROM json_array_elements_text($1::json) AS e (t))))
  ORDER BY (h.wait_event_type IS NOT DISTINCT FROM 'Lock'), w.query_start, b.pid LIMIT 1`,
);

/**
 * Describes what a session of this user and application waits for: a lock, or the confirmation by a standby. If several
 * sessions wait, prefers one whose lock holder is not waiting itself, and then the one with the oldest statement. If
 * `tables` is not empty, only sessions that hold or request a lock on one of these tables are considered. Returns part
 * of a sentence, or `undefined` if no session waits. Rejects as `Executor.ask` does.
 */
export async function lockHolder(
  executor: Pick<Executor, 'ask'>,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const [row] = (await executor.ask(HOLDERS, [JSON.stringify(tables)], { signal })).rows;
  if (row === undefined) return undefined;
  const [pid, application, since, query, isForStandby] = row;
  if (isForStandby === 't') return 'the commit waits for a standby to confirm it (synchronous_standby_names)';
  if (pid === '0') return 'the database waits for a lock that a prepared transaction holds (pg_prepared_xacts)';
  const parts = [
    `the database waits for a lock that pid ${pid ?? ''} holds`,
    ...(application === null || application === '' || application === undefined
      ? []
      : [`application "${application}"`]),
    ...(since === null || since === undefined ? [] : [`its transaction began at ${since}`]),
    ...(query === null || query === undefined ? [] : [`its last query at ${query}`]),
  ];
  return parts.join(', ');
}
