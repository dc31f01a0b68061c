import { previewOffsets } from './offsets-preview.ts';
import {
  ConnectError,
  parseOptions,
  silentLogger,
  SLUICE_VERSION,
  toError,
  type ConnectorConfig,
  type OptionResult,
  type SourceConnectorPlugin,
  type SourceOffset,
} from '../../src/index.ts';
import { checkConnection } from '../database/index.ts';
import { DbSourceConnector } from './db-source-connector.ts';
import { DbSourceTask } from './db-source-task.ts';
import { diagnoseSource } from './diagnosis.ts';
import { sourceOptions } from './options.ts';
import { fromOffset } from './position.ts';
import { settingProblems, sourceSettings } from './source-settings.ts';

async function validate(config: ConnectorConfig): Promise<OptionResult[]> {
  const problems = settingProblems(config).map(({ option, message }): OptionResult => {
    return { name: option, value: null, recommendedValues: [], errors: [message], visible: true };
  });
  return [...problems, ...(await checkConnection(parseOptions(sourceOptions, config), silentLogger))];
}

/** Rejects offsets that a task could not start from. */
async function alterOffsets(config: ConnectorConfig, offsets: readonly SourceOffset[]): Promise<boolean> {
  const { mode, query } = sourceSettings(config);
  const name = query === undefined ? 'table' : 'query';
  for (const { partition, offset } of offsets) {
    const isOurs = partition !== null && Object.keys(partition).length === 1 && typeof partition[name] === 'string';
    if (!isOurs) throw new ConnectError(`A partition of this connector must be of the form {"${name}":"…"}`);
    if (offset === null || mode === 'bulk') continue;
    try {
      fromOffset(offset, mode === 'incrementing' ? 'number' : 'time', undefined);
    } catch (error) {
      throw new ConnectError(`${name} ${String(partition[name])}: ${toError(error).message}`, { cause: error });
    }
  }
  return Promise.resolve(true);
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
  createConnector: () => new DbSourceConnector(),
  createTask: () => new DbSourceTask(),
  // A pass over a whole table has no offset that records what was sent.
  exactlyOnceSupport: (config) => (sourceSettings(config).mode === 'bulk' ? 'unsupported' : 'supported'),
  validate,
  diagnose: diagnoseSource,
  alterOffsets,
  previewOffsets,
};
