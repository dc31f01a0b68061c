import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from '../errors.ts';
import { isRollback } from './sqlstate.ts';

/** What the server rolled back for others' sake (class 40) is done again this often. */
export const ROLLBACK_RETRIES = 5;
const BACKOFF_MS = 10;

/** Does again what the server rolled back for others' sake (class 40). */
export async function retryRolledBack<T>(retries: number, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const mayRetry = error instanceof DatabaseError && isRollback(error);
      if (!mayRetry || attempt >= retries) throw error;
    }
    await delay(BACKOFF_MS * 2 ** attempt * (0.5 + Math.random()));
  }
}
