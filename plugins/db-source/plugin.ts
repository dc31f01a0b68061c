import {
  checkConnection,
  parseOptions,
  silentLogger,
  SLUICE_VERSION,
  type ConnectorConfig,
  type OptionResult,
  type SourceConnectorPlugin,
} from '../../src/index.ts';
import { DbSourceConnector } from './db-source-connector.ts';
import { DbSourceTask } from './db-source-task.ts';
import { sourceOptions } from './options.ts';
import { settingProblems } from './source-settings.ts';

async function validate(config: ConnectorConfig): Promise<OptionResult[]> {
  const problems = settingProblems(config).map(({ option, message }): OptionResult => {
    return { name: option, value: null, recommendedValues: [], errors: [message], visible: true };
  });
  return [...problems, ...(await checkConnection(parseOptions(sourceOptions, config), silentLogger))];
}

export const dbSource: SourceConnectorPlugin = {
  type: 'source',
  className: 'com.db.kafka.connect.source.DbSourceConnector',
  taskClassName: 'com.db.kafka.connect.source.DbSourceTask',
  version: SLUICE_VERSION,
  options: sourceOptions,
  createConnector: () => new DbSourceConnector(),
  createTask: () => new DbSourceTask(),
  validate,
};
