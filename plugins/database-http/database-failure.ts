import {
  DatabaseError,
  isDatabaseMissing,
  isLoginRefused,
  isUnavailable,
  isUnreachableOrFull,
} from '../database/index.ts';
import { ApiFailure } from './route.ts';
import { TEXTS } from './texts.ts';

const RETRY_AFTER_SECONDS = 5;

/** The database's own words with the prefix that clients match on. Where it is, no client has to know. */
export function databaseText(error: DatabaseError): string {
  // A failure to connect tells host and port around the server's message, which is the cause.
  const refusal = error.cause instanceof DatabaseError ? error.cause : undefined;
  const isHidden = isUnreachableOrFull(error) || (refusal !== undefined && isUnavailable(error));
  return isHidden ? TEXTS.databaseAway : `pq: ${(refusal ?? error).message}`;
}

/** Converts a failed connection to the response of the whole request. */
export function databaseFailure(error: DatabaseError): ApiFailure {
  if (isUnavailable(error)) {
    return new ApiFailure(503, databaseText(error), { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  }
  if (isLoginRefused(error)) return new ApiFailure(401, TEXTS.unknownToken, { cause: error });
  // The database of `db` does not exist or is closed to the user, or the time zone is unknown.
  const kind = isDatabaseMissing(error) ? 'database-missing' : undefined;
  return new ApiFailure(400, databaseText(error), { kind, cause: error });
}
