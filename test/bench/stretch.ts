import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectorStatus } from '../support/rest.ts';
import type { BenchServices } from './bench-services.ts';

const TIMEOUT_MS = 180_000;
/** Time without new rows after which the status of the connector is checked. */
const PATIENCE_MS = 3_000;
const SHORTEST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 5000;

/** Rows that arrived between two times of `performance.now()`. */
export interface Stretch {
  readonly rows: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Counts until all rows have arrived. Resolves with the period from the first count above 0 to the last count. If
 * counting takes CPU from the measured work, the next count follows after half of the estimated remaining time, or
 * after `longestWaitMs`.
 * @throws an error with the connector's status if one of its tasks failed, or if no row is added for three minutes
 */
export async function untilAll(
  rows: number,
  count: () => Promise<number>,
  status: () => Promise<ConnectorStatus>,
  longestWaitMs = LONGEST_WAIT_MS,
): Promise<Stretch> {
  let first: { atMs: number; rows: number } | undefined;
  let last = { atMs: performance.now(), rows: 0 };
  for (;;) {
    const askedMs = performance.now();
    const now = await count();
    const atMs = performance.now();
    if (first === undefined && now > 0) first = { atMs, rows: now };
    if (first !== undefined && now >= rows) return { rows: now - first.rows, fromMs: first.atMs, toMs: atMs };
    if (now > last.rows) last = { atMs, rows: now };
    else if (atMs - last.atMs > PATIENCE_MS) check(await status(), atMs - last.atMs, `${now} of ${rows} rows`);
    const restMs = first === undefined ? 0 : restOf(first, now, atMs, rows);
    await delay(Math.min(longestWaitMs, Math.max(SHORTEST_WAIT_MS, atMs - askedMs, restMs / 2)));
  }
}

function check(status: ConnectorStatus, idleMs: number, progress: string): void {
  const hasFailed = [status.connector, ...status.tasks].some(({ state }) => state === 'FAILED');
  if (hasFailed || idleMs > TIMEOUT_MS) throw new Error(`only ${progress}: ${JSON.stringify(status)}`);
}

/** Converts a time of the database to the clock of `performance.now()`. */
export function onOwnClock(msSinceEpoch: number): number {
  return msSinceEpoch - performance.timeOrigin;
}

/** Rows that arrived at one time of `performance.now()`. */
export interface Arrival {
  readonly rows: number;
  readonly atMs: number;
}

/**
 * Returns the period from the first commit with rows to the last, by the clock of the database; `undefined` if the
 * server does not record commit times (`track_commit_timestamp`). `from` is a table, or a table with a WHERE clause.
 */
export async function untilLastCommit(services: BenchServices, from: string): Promise<Stretch | undefined> {
  const [kept] = (await services.query('show track_commit_timestamp')).rows[0] ?? [];
  return kept === 'on' ? stretchOf(await commitsOf(services, from)) : undefined;
}

/** Returns the commits of the rows, in order. Requires `track_commit_timestamp`. */
export async function commitsOf(services: BenchServices, from: string): Promise<readonly Arrival[]> {
  return arrivals(
    await services.query(
      `select count, extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 as ms
        from (select xmin, count(*) from ${from} group by xmin) commits order by ms`,
    ),
  );
}

/**
 * Returns the commits in which the ids of a table without a key were stored for the first time, in order. Requires
 * `track_commit_timestamp`.
 */
export async function firstCommitsOf(services: BenchServices, table: string): Promise<readonly Arrival[]> {
  return arrivals(
    await services.query(
      `select count(*), extract(epoch from first) * 1000 as ms
        from (select min(pg_xact_commit_timestamp(xmin)) as first from ${table} group by id) ids group by first order by ms`,
    ),
  );
}

function arrivals({ rows }: { readonly rows: readonly (readonly unknown[])[] }): readonly Arrival[] {
  return rows.map(([count, ms]) => ({ rows: Number(count), atMs: onOwnClock(Number(ms)) }));
}

/** Returns the period from the first arrival to the last. */
export function stretchOf(all: readonly Arrival[]): Stretch | undefined {
  const [first, last] = [all[0], all.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const rows = all.reduce((sum, arrival) => sum + arrival.rows, 0);
  return { rows: rows - first.rows, fromMs: first.atMs, toMs: last.atMs };
}

export function rowsPerSecond({ rows, fromMs, toMs }: Stretch): number {
  return (rows * 1000) / (toMs - fromMs);
}

/** Returns the milliseconds that the remaining rows need at the same rate. */
function restOf(first: { atMs: number; rows: number }, now: number, atMs: number, rows: number): number {
  return now === first.rows ? 0 : ((rows - now) * (atMs - first.atMs)) / (now - first.rows);
}
