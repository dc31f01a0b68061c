import {
  checkConnection,
  parseOptions,
  silentLogger,
  SLUICE_VERSION,
  type Connector,
  type ConnectorConfig,
  type OptionResult,
  type SinkConnectorPlugin,
} from '../../src/index.ts';
import { DbSinkTask } from './db-sink-task.ts';
import { refusedByEngine, unsupportedFormat, unsupportedPrecision } from './decoders.ts';
import { sinkOptions } from './options.ts';

/** Every task gets the same configuration: the consumer group divides the partitions. */
class DbSinkConnector implements Connector {
  #config: ConnectorConfig = {};

  async start(config: ConnectorConfig): Promise<void> {
    parseOptions(sinkOptions, config);
    this.#config = config;
    await Promise.resolve();
  }

  async taskConfigs(maxTasks: number): Promise<ConnectorConfig[]> {
    return Promise.resolve(Array.from({ length: maxTasks }, () => this.#config));
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}

async function validate(config: ConnectorConfig): Promise<OptionResult[]> {
  const options = parseOptions(sinkOptions, config);
  const format = options['protocol.type'];
  const problems = [
    ...named('protocol.type', unsupportedFormat(format)),
    ...named('timestamp.precision', unsupportedPrecision(format, options['timestamp.precision'])),
  ];
  const checked = await checkConnection(options, silentLogger, async (executor) =>
    named('protocol.type', refusedByEngine(format, await executor.engine())),
  );
  return [...problems, ...checked];
}

function named(name: string, reason: string | undefined): OptionResult[] {
  if (reason === undefined) return [];
  const message = `Invalid value for configuration ${name}: ${reason}`;
  return [{ name, value: null, recommendedValues: [], errors: [message], visible: true }];
}

export const dbSink: SinkConnectorPlugin = {
  type: 'sink',
  className: 'com.db.kafka.connect.sink.DbSinkConnector',
  taskClassName: 'com.db.kafka.connect.sink.DbSinkTask',
  version: SLUICE_VERSION,
  options: sinkOptions,
  createConnector: () => new DbSinkConnector(),
  createTask: () => new DbSinkTask(),
  validate,
};
