import { DatabaseError } from '../../src/index.ts';
import { ApiFailure } from './route.ts';
import { TEXTS } from './texts.ts';

const RETRY_AFTER_SECONDS = 5;

/** Whether the database could not be reached, was lost, or has no connection left: the same request may succeed later. */
export function isUnavailable(error: DatabaseError): boolean {
  if (error.scope !== 'infrastructure') return false;
  const { sqlstate } = error;
  return sqlstate === undefined || /^(?:08|53|57P)/.test(sqlstate);
}

/** Whether the database refused user or password. */
export function isLoginRefused(error: DatabaseError): boolean {
  return error.sqlstate?.startsWith('28') === true || (error.sqlstate === undefined && error.scope === 'caller');
}

/** The database's own words with the prefix that clients match on. Where it is, no client has to know. */
export function databaseText(error: DatabaseError): string {
  // A failure to connect tells host and port around the server's message, which is the cause.
  const told = error.cause instanceof DatabaseError ? error.cause : error;
  return isUnavailable(error) ? TEXTS.databaseAway : `pq: ${told.message}`;
}

/** Why no connection could be had, as the answer to the whole request. */
export function databaseFailure(error: DatabaseError): ApiFailure {
  if (isUnavailable(error)) {
    return new ApiFailure(503, TEXTS.databaseAway, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  }
  if (isLoginRefused(error)) return new ApiFailure(401, TEXTS.unknownToken, { cause: error });
  // The database of `db` does not exist or is closed to the user, the zone is none.
  return new ApiFailure(400, databaseText(error), { cause: error });
}
