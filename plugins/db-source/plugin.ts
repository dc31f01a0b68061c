import { listTables } from './listed-tables.ts';
import { previewOffsets } from './offsets-preview.ts';
import {
  ConnectError,
  parseOptions,
  silentLogger,
  SLUICE_VERSION,
  toError,
  type ConnectorConfig,
  type DiagnosisContext,
  type Finding,
  type OptionResult,
  type SourceConnectorPlugin,
  type SourceOffset,
} from '../../src/index.ts';
import { checkConnection, DatabaseError, databasePlace } from '../database/index.ts';
import { diagnoseLog } from '../log-source/diagnosis.ts';
import { LogSourceTask } from '../log-source/log-source-task.ts';
import { LogSourceConnector } from '../log-source/plugin.ts';
import { checkOffsets } from '../log-source/position.ts';
import { optionError, preflightProblems } from '../log-source/preflight.ts';
import { DbSourceConnector } from './db-source-connector.ts';
import { DbSourceTask } from './db-source-task.ts';
import { diagnoseSource } from './diagnosis.ts';
import { DB_LOG, dbLogSettings, logProblems, readsLog } from './log-settings.ts';
import { sourceOptions } from './options.ts';
import { fromOffset } from './position.ts';
import { settingProblems, sourceSettings, type SettingProblem } from './source-settings.ts';

async function validate(config: ConnectorConfig): Promise<readonly OptionResult[]> {
  const problems = [...settingProblems(config), ...logProblems(config)].map(problemOf);
  const connection = await checkConnection(parseOptions(sourceOptions, config), silentLogger);
  if (problems.length + connection.length > 0 || !readsLog(config)) return [...problems, ...connection];
  try {
    return await preflightProblems(dbLogSettings(config));
  } catch (error) {
    // An unreachable server is not an error of the configuration, because the task waits for it.
    if (error instanceof DatabaseError && error.scope === 'infrastructure') return [];
    throw error;
  }
}

function problemOf({ option, message }: SettingProblem): OptionResult {
  return optionError(option, message);
}

/** Rejects with a ConnectError for an offset from which a task could not start. */
async function alterOffsets(config: ConnectorConfig, offsets: readonly SourceOffset[]): Promise<boolean> {
  if (readsLog(config)) {
    checkOffsets(dbLogSettings(config).prefix, offsets);
    return true;
  }
  const { mode, query } = sourceSettings(config);
  const name = query === undefined ? 'table' : 'query';
  for (const { partition, offset } of offsets) {
    const isValid = partition !== null && Object.keys(partition).length === 1 && typeof partition[name] === 'string';
    if (!isValid) throw new ConnectError(`A partition of this connector must be of the form {"${name}":"…"}`);
    if (offset === null || mode === 'bulk') continue;
    try {
      fromOffset(offset, mode === 'incrementing' ? 'number' : 'time', undefined);
    } catch (error) {
      throw new ConnectError(`${name} ${String(partition[name])}: ${toError(error).message}`, { cause: error });
    }
  }
  return Promise.resolve(true);
}

async function diagnose(config: ConnectorConfig, context: DiagnosisContext): Promise<readonly Finding[]> {
  return readsLog(config) ? diagnoseLog(dbLogSettings(config), context) : diagnoseSource(config, context);
}

/**
 * @internal
 */
export const dbSource: SourceConnectorPlugin = {
  type: 'source',
  className: 'com.db.kafka.connect.source.DbSourceConnector',
  taskClassName: 'com.db.kafka.connect.source.DbSourceTask',
  version: SLUICE_VERSION,
  options: sourceOptions,
  createConnector: (config) => (readsLog(config) ? new LogSourceConnector() : new DbSourceConnector()),
  createTask: (config) => (readsLog(config) ? new LogSourceTask(DB_LOG) : new DbSourceTask()),
  // In bulk mode, offsets do not record which rows of a pass were sent.
  exactlyOnceSupport: (config) =>
    !readsLog(config) && sourceSettings(config).mode === 'bulk' ? 'unsupported' : 'supported',
  validate,
  diagnose,
  alterOffsets,
  previewOffsets,
  listTables,
  databasePlace: (config) => databasePlace(config['connection.url'] ?? '', config['connection.database']),
};
