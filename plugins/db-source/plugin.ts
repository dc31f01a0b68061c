import {
  checkConnection,
  encodedFormats,
  parseOptions,
  silentLogger,
  SLUICE_VERSION,
  toError,
  type ConnectorConfig,
  type OptionResult,
  type SourceConnectorPlugin,
} from '../../src/index.ts';
import { DbSourceConnector } from './db-source-connector.ts';
import { DbSourceTask } from './db-source-task.ts';
import { parseInitialTime } from './initial-time.ts';
import { sourceOptions } from './options.ts';

async function validate(config: ConnectorConfig): Promise<OptionResult[]> {
  const options = parseOptions(sourceOptions, config);
  const problems: OptionResult[] = [];
  const add = (name: string, message: string) =>
    problems.push({ name, value: null, recommendedValues: [], errors: [message], visible: true });
  if (!(options['out.format'] in encodedFormats)) {
    const known = Object.keys(encodedFormats).join(' and ');
    add(
      'out.format',
      `Invalid value ${options['out.format']} for configuration out.format: this version writes ${known} only`,
    );
  }
  try {
    if (options['timestamp.initial'] !== null) parseInitialTime(options['timestamp.initial'], Date.now());
  } catch (error) {
    add('timestamp.initial', toError(error).message);
  }
  return [...problems, ...(await checkConnection(options, silentLogger))];
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
