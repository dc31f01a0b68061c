import type { Logger } from '../../../src/observe/logger.ts';
import type { Executor } from './api.ts';
import { DEFAULT_APPLICATION_NAME, type ConnectionSettings } from './connection-url.ts';
import { openExecutor } from './open-executor.ts';

/** PostgreSQL truncates longer names, which would remove the number of the task. */
const MAX_BYTES = 63;

/**
 * Sets the application name of sessions in `pg_stat_activity`: `sluice:orders-sink-0` for task 0 of a connector, and
 * `sluice:orders-sink` if `task` is not set. A name in the connection URL takes precedence.
 */
export function withSessionName(settings: ConnectionSettings, connector: string, task?: number): ConnectionSettings {
  if (settings.applicationName !== DEFAULT_APPLICATION_NAME) return settings;
  const suffix = task === undefined ? '' : `-${String(task)}`;
  // Servers replace characters other than printable ASCII, or escape them with four bytes each.
  const printable = connector.replace(/[^ -~]/gu, '?');
  const applicationName = `${DEFAULT_APPLICATION_NAME}:${printable}`.slice(0, MAX_BYTES - suffix.length) + suffix;
  return { ...settings, applicationName };
}

/** Opens an executor with the session name of a task, or of a connector. */
export function openNamedExecutor(
  settings: ConnectionSettings,
  context: { readonly connectorName: string; readonly taskIndex?: number; readonly logger: Logger },
  poolSize: number,
): Executor {
  const { connectorName, taskIndex, logger } = context;
  return openExecutor(withSessionName(settings, connectorName, taskIndex), { logger, poolSize });
}
