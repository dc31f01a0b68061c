import { BoundedMap } from '../../../src/data/bounded-map.ts';
import type { DatabaseError } from '../../../src/errors.ts';
import { isDatabaseRefused } from './sqlstate.ts';

/** pgbouncer retries a refused login after this time by default (`server_login_retry`), and lets clients wait until then. */
const RETRY_AFTER_MS = 15_000;
/** Maximum number of databases whose last refusal is kept. */
const MAX_DATABASES = 1_000;

/** The message of a login that was not answered in time. */
export const LATE = 'timeout expired';

const refusals = new BoundedMap<string, { readonly error: DatabaseError; readonly at: number }>(MAX_DATABASES);

/**
 * Returns the last refusal of a database if a login to it is not answered because a pooler does not ask the server
 * again yet. Otherwise returns `error`, and keeps it if it is a refusal. `login` names server, user and database.
 */
export function withLastRefusal(login: string, error: DatabaseError): DatabaseError {
  if (error.message === LATE) {
    const last = refusals.get(login);
    return last !== undefined && performance.now() - last.at < RETRY_AFTER_MS ? last.error : error;
  }
  if (isDatabaseRefused(error)) refusals.set(login, { error, at: performance.now() });
  else refusals.delete(login);
  return error;
}
