import { ApiFailure } from '../route.ts';

/** A body beyond the limit is 413 on the paths of other systems: Telegraf divides it then. The documented paths answer 400. */
export function withAliasStatus(failure: ApiFailure): ApiFailure {
  return failure.kind === 'body-too-large' ? new ApiFailure(413, failure.message, { cause: failure }) : failure;
}
