import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectorStatus } from '../support/rest.ts';

const TIMEOUT_MS = 180_000;
/** Without new rows, until the connector is asked how it is. */
const PATIENCE_MS = 3_000;
const SHORTEST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 5000;

/** Rows that came between two moments of `performance.now()`. */
export interface Stretch {
  readonly rows: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Counts until all rows are there; gives the stretch from the first count that was not 0 to the last. Counting takes CPU from
 * what is measured, so the next count comes after half of the time that the rest should take.
 *
 * @throws an error with the connector's status when a task of it failed, or nothing is added for three minutes
 */
export async function untilAll(
  rows: number,
  count: () => Promise<number>,
  status: () => Promise<ConnectorStatus>,
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
    await delay(Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, atMs - askedMs, restMs / 2)));
  }
}

function check(status: ConnectorStatus, idleMs: number, progress: string): void {
  const hasFailed = [status.connector, ...status.tasks].some(({ state }) => state === 'FAILED');
  if (hasFailed || idleMs > TIMEOUT_MS) throw new Error(`only ${progress}: ${JSON.stringify(status)}`);
}

export function rowsPerSecond({ rows, fromMs, toMs }: Stretch): number {
  return (rows * 1000) / (toMs - fromMs);
}

/** Milliseconds that the rest takes when it goes on as before. */
function restOf(first: { atMs: number; rows: number }, now: number, atMs: number, rows: number): number {
  return now === first.rows ? 0 : ((rows - now) * (atMs - first.atMs)) / (now - first.rows);
}
