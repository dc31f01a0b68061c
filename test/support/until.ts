import { setTimeout as delay } from 'node:timers/promises';

/** A factor for all times that tests wait for conditions; larger than 1 on a busy machine. */
export const PATIENCE = Number(process.env['SLUICE_TEST_PATIENCE'] ?? '1');

export interface UntilOptions {
  readonly timeoutMs?: number;
  readonly everyMs?: number;
}

/**
 * Waits until `condition` returns something other than `false`, `null` or `undefined`, and returns that. If the
 * condition throws, it is evaluated again. When the time is over, the error contains `what` and the result of the last
 * evaluation.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string,
  { timeoutMs: given = 90_000, everyMs = 50 }: UntilOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const timeoutMs = given * PATIENCE;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let last: unknown;
    try {
      const given = await condition();
      if (isGiven(given)) return given;
      last = given;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) {
      const gave = last instanceof Error ? `failed: ${last.message}` : `gave ${String(last)}`;
      throw new Error(`Not within ${String(timeoutMs)} ms: ${what} (the last try ${gave})`, { cause: last });
    }
    await delay(everyMs);
  }
}

function isGiven<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined;
}
