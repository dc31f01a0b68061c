import type { OptionResult } from '../../../src/config/option.ts';
import { toError, type DatabaseError } from '../../../src/errors.ts';
import type { Executor } from './api.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import { connectionSettings, type connectionOptions } from './connection-options.ts';
import type { ParsedOptions } from '../../../src/config/option.ts';
import { isDatabaseMissing, isCausedByConnectionUrl, toDatabaseError } from './sqlstate.ts';
import { openExecutor } from './open-executor.ts';

const CHECK_TIMEOUT_MS = 3000;

/**
 * Validates the connection options by connecting once. Reports an invalid URL, a rejected user or password, a missing
 * database, and the problems that `findProblems` returns. An unreachable server is not a configuration error, because
 * the task waits for it.
 */
export async function checkConnection(
  options: ParsedOptions<typeof connectionOptions>,
  logger: Logger,
  findProblems: (executor: Executor) => Promise<readonly OptionResult[]> = () => Promise.resolve([]),
): Promise<readonly OptionResult[]> {
  let settings;
  try {
    settings = connectionSettings(options);
  } catch (error) {
    return [problem('connection.url', toError(error).message)];
  }
  const executor = openExecutor({ ...settings, connectTimeoutMs: CHECK_TIMEOUT_MS }, { logger, poolSize: 1 });
  try {
    await executor.query('SELECT 1');
    return await findProblems(executor);
  } catch (thrown) {
    const error = toDatabaseError(thrown);
    if (error.scope !== 'caller') return [];
    const option = refusedOption(error);
    return [problem(option, `Invalid value for configuration ${option}: ${error.message}`)];
  } finally {
    await executor.close();
  }
}

function refusedOption(error: DatabaseError): string {
  if (isDatabaseMissing(error) || error.sqlstate === '42622') return 'connection.database';
  return isCausedByConnectionUrl(error) ? 'connection.url' : 'connection.user';
}

function problem(name: string, message: string): OptionResult {
  return { name, value: null, recommendedValues: [], errors: [message], visible: true };
}
