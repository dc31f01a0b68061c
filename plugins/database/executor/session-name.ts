import type { Logger } from '../../../src/observe/logger.ts';
import type { Executor } from './api.ts';
import { DEFAULT_APPLICATION_NAME, type ConnectionSettings } from './connection-url.ts';
import { openExecutor } from './open-executor.ts';

/** PostgreSQL truncates longer names, which would remove the number of the task. */
const MAX_BYTES = 63;

/**
 * Names the sessions of a task in `pg_stat_activity`, for instance `sluice:orders-sink-0`; without a task those of the connector.
 * A name in the connection URL is kept.
 * @internal
 */
export function withSessionName(settings: ConnectionSettings, connector: string, task?: number): ConnectionSettings {
  if (settings.applicationName !== DEFAULT_APPLICATION_NAME) return settings;
  const suffix = task === undefined ? '' : `-${String(task)}`;
  // Servers replace or escape other characters, the latter with four bytes for each.
  const printable = connector.replace(/[^ -~]/gu, '?');
  const applicationName = `${DEFAULT_APPLICATION_NAME}:${printable}`.slice(0, MAX_BYTES - suffix.length) + suffix;
  return { ...settings, applicationName };
}

/** Opens an executor for a task, or for the instance of a connector, whose sessions have its name. */
export function openNamedExecutor(
  settings: ConnectionSettings,
  context: { readonly connectorName: string; readonly taskIndex?: number; readonly logger: Logger },
  poolSize: number,
): Executor {
  const { connectorName, taskIndex, logger } = context;
  return openExecutor(withSessionName(settings, connectorName, taskIndex), { logger, poolSize });
}
