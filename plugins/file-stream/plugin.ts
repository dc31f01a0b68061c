import {
  CONNECT_VERSION,
  ConnectError,
  parseOptions,
  type Connector,
  type ConnectorConfig,
  type OptionDeclarations,
  type SinkConnectorPlugin,
  type SourceConnectorPlugin,
  type SourceOffset,
} from '../../src/index.ts';
import { FileSinkTask, lineOf } from './file-sink-task.ts';
import { fileOf, FileSourceTask } from './file-source-task.ts';
import { fileSinkOptions, fileSourceOptions } from './options.ts';

/**
 * All tasks have the configuration of the connector. `limit` is the maximum number of tasks; a source has one task,
 * regardless of `tasks.max`.
 */
class FileConnector implements Connector {
  readonly #options: OptionDeclarations;
  readonly #limit: number;
  #config: ConnectorConfig = {};

  constructor(options: OptionDeclarations, limit: number) {
    this.#options = options;
    this.#limit = limit;
  }

  async start(config: ConnectorConfig): Promise<void> {
    parseOptions(this.#options, config);
    this.#config = config;
    await Promise.resolve();
  }

  async taskConfigs(maxTasks: number): Promise<ConnectorConfig[]> {
    const count = Math.min(maxTasks, this.#limit);
    return Promise.resolve(Array.from({ length: count }, () => this.#config));
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}

/**
 * Checks new offsets. If a file is configured, any offset may be removed, so that offsets of earlier configurations can
 * be deleted.
 */
async function alterSourceOffsets(config: ConnectorConfig, offsets: readonly SourceOffset[]): Promise<boolean> {
  if (fileOf(config) === null) {
    throw new ConnectError(
      "Offsets cannot be modified if the 'file' configuration is unspecified. This is because stdin is used for input and offsets are not tracked.",
    );
  }
  for (const { partition, offset } of offsets) {
    const reason = offset === null ? undefined : problemOf(partition, offset);
    if (reason !== undefined) throw new ConnectError(reason);
  }
  return Promise.resolve(true);
}

function problemOf(partition: SourceOffset['partition'], offset: NonNullable<SourceOffset['offset']>) {
  if (!('position' in offset)) return "Offset objects should either be null or contain the key 'position'";
  const position = offset['position'];
  const isLong =
    typeof position === 'bigint' ? BigInt.asIntN(64, position) === position : Number.isSafeInteger(position);
  if (!isLong) {
    return "The value for the 'position' key in the offset is expected to be a Long value";
  }
  if (Number(position) < 0) return "The value for the 'position' key in the offset should be a non-negative value";
  if (partition === null) return 'Partition objects cannot be null';
  return 'filename' in partition ? undefined : "Partition objects should contain the key 'filename'";
}

/** @internal */
export const fileSource: SourceConnectorPlugin = {
  type: 'source',
  className: 'org.apache.kafka.connect.file.FileStreamSourceConnector',
  taskClassName: 'org.apache.kafka.connect.file.FileStreamSourceTask',
  version: CONNECT_VERSION,
  options: fileSourceOptions,
  createConnector: () => new FileConnector(fileSourceOptions, 1),
  createTask: () => new FileSourceTask(),
  // Standard input cannot be read again.
  exactlyOnceSupport: (config) => (fileOf(config) === null ? 'unsupported' : 'supported'),
  alterOffsets: alterSourceOffsets,
};

/** @internal */
export const fileSink: SinkConnectorPlugin = {
  type: 'sink',
  className: 'org.apache.kafka.connect.file.FileStreamSinkConnector',
  taskClassName: 'org.apache.kafka.connect.file.FileStreamSinkTask',
  version: CONNECT_VERSION,
  options: fileSinkOptions,
  createConnector: () => new FileConnector(fileSinkOptions, Number.MAX_SAFE_INTEGER),
  createTask: () => new FileSinkTask(),
  preview: (config, records) => {
    parseOptions(fileSinkOptions, config);
    return Promise.resolve(records.map((record) => ({ lines: [lineOf(record)] })));
  },
  alterOffsets: () => Promise.resolve(true),
};
