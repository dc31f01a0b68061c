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

/** The database's message with the prefix that clients match on. Host and port of the database are not disclosed. */
export function databaseText(error: DatabaseError): string {
  // The message of a failed connection contains host and port; the server's own message is the cause.
  const refusal = error.cause instanceof DatabaseError ? error.cause : undefined;
  const isHidden = isUnreachableOrFull(error) || (refusal !== undefined && isUnavailable(error));
  return isHidden ? TEXTS.databaseAway : `pq: ${(refusal ?? error).message}`;
}

/** Converts an error of the database, such as a failed connection, to the failure of the whole request. */
export function databaseFailure(error: DatabaseError): ApiFailure {
  if (isUnavailable(error)) {
    return new ApiFailure(503, databaseText(error), { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  }
  if (isLoginRefused(error)) return new ApiFailure(401, TEXTS.unknownToken, { cause: error });
  // The database that `db` names does not exist or refuses the user, or the time zone is unknown.
  const kind = isDatabaseMissing(error) ? 'database-missing' : undefined;
  return new ApiFailure(400, databaseText(error), { kind, cause: error });
}
