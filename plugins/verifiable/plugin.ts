import {
  CONNECT_VERSION,
  type Connector,
  type ConnectorConfig,
  type SinkConnectorPlugin,
  type SourceConnectorPlugin,
} from '../../src/index.ts';
import { MockConnector, MockSinkTask, MockSourceTask } from './mock.ts';
import { mockOptions, schemaSourceOptions, verifiableSinkOptions, verifiableSourceOptions } from './options.ts';
import { SchemaSourceTask } from './schema-source-task.ts';
import { VerifiableSinkTask } from './verifiable-sink-task.ts';
import { VerifiableSourceTask } from './verifiable-source-task.ts';

const PACKAGE = 'org.apache.kafka.connect.tools.';

/** Creates the maximum number of tasks. Each task gets its number as the option `id`. */
class NumberedConnector implements Connector {
  #config: ConnectorConfig = {};

  async start(config: ConnectorConfig): Promise<void> {
    this.#config = config;
    await Promise.resolve();
  }

  async taskConfigs(maxTasks: number): Promise<readonly ConnectorConfig[]> {
    return Promise.resolve(Array.from({ length: maxTasks }, (_, id) => ({ ...this.#config, id: String(id) })));
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}

export const verifiableSource: SourceConnectorPlugin = {
  type: 'source',
  className: `${PACKAGE}VerifiableSourceConnector`,
  taskClassName: `${PACKAGE}VerifiableSourceTask`,
  version: CONNECT_VERSION,
  options: verifiableSourceOptions,
  createConnector: () => new NumberedConnector(),
  createTask: () => new VerifiableSourceTask(),
  exactlyOnceSupport: () => 'supported',
};

export const schemaSource: SourceConnectorPlugin = {
  type: 'source',
  className: `${PACKAGE}SchemaSourceConnector`,
  taskClassName: `${PACKAGE}SchemaSourceTask`,
  version: CONNECT_VERSION,
  options: schemaSourceOptions,
  createConnector: () => new NumberedConnector(),
  createTask: () => new SchemaSourceTask(),
  exactlyOnceSupport: () => 'supported',
};

export const verifiableSink: SinkConnectorPlugin = {
  type: 'sink',
  className: `${PACKAGE}VerifiableSinkConnector`,
  taskClassName: `${PACKAGE}VerifiableSinkTask`,
  version: CONNECT_VERSION,
  options: verifiableSinkOptions,
  createConnector: () => new NumberedConnector(),
  createTask: () => new VerifiableSinkTask(),
};

export const mockSource: SourceConnectorPlugin = {
  type: 'source',
  className: `${PACKAGE}MockSourceConnector`,
  taskClassName: `${PACKAGE}MockSourceTask`,
  version: CONNECT_VERSION,
  options: mockOptions,
  createConnector: () => new MockConnector(),
  createTask: () => new MockSourceTask(),
};

export const mockSink: SinkConnectorPlugin = {
  type: 'sink',
  className: `${PACKAGE}MockSinkConnector`,
  taskClassName: `${PACKAGE}MockSinkTask`,
  version: CONNECT_VERSION,
  options: mockOptions,
  createConnector: () => new MockConnector(),
  createTask: () => new MockSinkTask(),
};
