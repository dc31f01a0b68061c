import {
  parseOptions,
  silentLogger,
  SLUICE_VERSION,
  type Connector,
  type ConnectorConfig,
  type OptionResult,
  type SinkConnectorPlugin,
} from '../../src/index.ts';
import { checkConnection, databasePlace } from '../database/index.ts';
import { DbSinkTask } from './db-sink-task.ts';
import { diagnoseSink } from './diagnosis.ts';
import { alterOffsets } from './delivery.ts';
import { deliveryProblems } from './delivery-options.ts';
import { refusedByEngine, sinkFormat, unsupportedPrecision } from './decoders.ts';
import { sinkOptions } from './options.ts';
import { previewRecords } from './preview.ts';
import { refusedByServer } from './server-refusals.ts';
import { tableProblems } from './table-options.ts';

/** All tasks have the same configuration, as the consumer group distributes the partitions. */
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
  const precision = unsupportedPrecision(format, options['timestamp.precision']);
  const problems = tableProblems(options, format, sinkFormat(format).growth);
  problems.push(...deliveryProblems(options));
  problems.push(...(sinkFormat(format).problems?.(options) ?? []));
  if (precision !== undefined) problems.push(['timestamp.precision', precision]);
  const checked = await checkConnection(options, silentLogger, async (executor) => [
    ...refusedByEngine(options, await executor.engine()).map(problem),
    ...(await refusedByServer(options, executor)).map(problem),
  ]);
  return [...problems.map(problem), ...checked];
}

function problem([name, reason]: readonly [name: string, reason: string, ...unknown[]]): OptionResult {
  const message = `Invalid value for configuration ${name}: ${reason}`;
  return { name, value: null, recommendedValues: [], errors: [message], visible: true };
}

/**
 * The plugin of the sink.
 * @internal
 */
export const dbSink: SinkConnectorPlugin = {
  type: 'sink',
  className: 'com.db.kafka.connect.sink.DbSinkConnector',
  taskClassName: 'com.db.kafka.connect.sink.DbSinkTask',
  version: SLUICE_VERSION,
  options: sinkOptions,
  createConnector: () => new DbSinkConnector(),
  createTask: () => new DbSinkTask(),
  preview: previewRecords,
  validate,
  diagnose: diagnoseSink,
  alterOffsets,
  databasePlace: (config) => databasePlace(config['connection.url'] ?? '', config['connection.database']),
};
