import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 180_000;
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
 * @throws an error with what `explain` says when nothing is added for three minutes
 */
export async function untilAll(
  rows: number,
  count: () => Promise<number>,
  explain: () => Promise<string>,
): Promise<Stretch> {
  let first: { atMs: number; rows: number } | undefined;
  let last = 0;
  let deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const askedMs = performance.now();
    const now = await count();
    const atMs = performance.now();
    if (now > last) deadline = atMs + TIMEOUT_MS;
    last = now;
    if (first === undefined && now > 0) first = { atMs, rows: now };
    if (first !== undefined && now >= rows) return { rows: now - first.rows, fromMs: first.atMs, toMs: atMs };
    if (atMs > deadline) throw new Error(`only ${String(now)} of ${String(rows)} rows: ${await explain()}`);
    const restMs = first === undefined ? 0 : restOf(first, now, atMs, rows);
    await delay(Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, atMs - askedMs, restMs / 2)));
  }
}

export function rowsPerSecond({ rows, fromMs, toMs }: Stretch): number {
  return (rows * 1000) / (toMs - fromMs);
}

/** Milliseconds that the rest takes when it goes on as before. */
function restOf(first: { atMs: number; rows: number }, now: number, atMs: number, rows: number): number {
  return now === first.rows ? 0 : ((rows - now) * (atMs - first.atMs)) / (now - first.rows);
}
