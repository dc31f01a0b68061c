import { ApiFailure } from '../route.ts';

/** On the paths of other systems, a body beyond the limit gets status 413, so that Telegraf splits it. Documented paths return 400. */
export function withAliasStatus(failure: ApiFailure): ApiFailure {
  return failure.kind === 'body-too-large' ? new ApiFailure(413, failure.message, { cause: failure }) : failure;
}
