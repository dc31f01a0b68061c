import { Backoff } from '../../../src/async/backoff.ts';
import { sleep } from '../../../src/async/sleep.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { isRollback } from './sqlstate.ts';

/** Number of retries after the server rolled back a transaction because of other transactions (class 40). */
export const ROLLBACK_RETRIES = 5;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1_000;

/** Repeats `work` after the server rolled it back because of other transactions (class 40). */
export async function retryRolledBack<T>(retries: number, work: () => Promise<T>): Promise<T> {
  const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const mayRetry = error instanceof DatabaseError && isRollback(error);
      if (!mayRetry || attempt >= retries) throw error;
    }
    await sleep(backoff.nextMs());
  }
}
