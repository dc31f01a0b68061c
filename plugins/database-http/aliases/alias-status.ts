import { ApiFailure } from '../route.ts';

/**
 * On the paths of InfluxDB, OpenTSDB and QuestDB, a body beyond the limit gets status 413, so that Telegraf splits it.
 * On the documented paths of the original database (docs/database-api.md), it gets 400.
 */
export function withAliasStatus(failure: ApiFailure): ApiFailure {
  return failure.kind === 'body-too-large' ? new ApiFailure(413, failure.message, { cause: failure }) : failure;
}
