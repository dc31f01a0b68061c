import {
  parseOptions,
  type Connector,
  type ConnectorConfig,
  type ConnectorContext,
  type PartitionOffset,
  type SinkTask,
  type SinkTaskContext,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
} from '../../src/index.ts';
import { mockOptions } from './options.ts';
import { pause } from './pace.ts';

const IDLE_MS = 250;

/** Milliseconds until the failure if `mock_mode` is `mode`; otherwise `undefined`. */
function failureDelayMs(config: ConnectorConfig, mode: 'connector-failure' | 'task-failure'): number | undefined {
  const options = parseOptions(mockOptions, config);
  return options.mock_mode === mode ? Number(options.delay_ms) : undefined;
}

function failure(what: 'connector' | 'task'): Error {
  return new Error(`The ${what} fails because of mock_mode=${what}-failure`);
}

/** A connector with one task. It fails if `mock_mode` requests it (org.apache.kafka.connect.tools.MockConnector). */
export class MockConnector implements Connector {
  #config: ConnectorConfig = {};
  #timer: NodeJS.Timeout | undefined;

  async start(config: ConnectorConfig, context: ConnectorContext): Promise<void> {
    this.#config = config;
    const delayMs = failureDelayMs(config, 'connector-failure');
    if (delayMs !== undefined) {
      this.#timer = setTimeout(() => {
        context.raiseError(failure('connector'));
      }, delayMs);
    }
    await Promise.resolve();
  }

  async taskConfigs(): Promise<readonly ConnectorConfig[]> {
    return Promise.resolve([this.#config]);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.resolve();
  }
}

/** Produces nothing, and fails if `mock_mode` requests it. */
export class MockSourceTask implements SourceTask {
  #signal!: AbortSignal;
  #failsAtMs = Infinity;

  async start({ config, signal }: SourceTaskContext): Promise<void> {
    this.#signal = signal;
    this.#failsAtMs = Date.now() + (failureDelayMs(config, 'task-failure') ?? Infinity);
    await Promise.resolve();
  }

  async poll(): Promise<readonly SourceRecord[]> {
    const leftMs = this.#failsAtMs - Date.now();
    if (leftMs <= 0) throw failure('task');
    await pause(Math.min(leftMs, IDLE_MS), this.#signal);
    return [];
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}

/**
 * Discards its records, and fails if `mock_mode` requests it. The failure occurs in a commit that the task requests, so
 * that it also occurs if there are no records.
 */
export class MockSinkTask implements SinkTask {
  #timer: NodeJS.Timeout | undefined;
  #fails = false;

  async start(context: SinkTaskContext): Promise<void> {
    const delayMs = failureDelayMs(context.config, 'task-failure');
    if (delayMs !== undefined) {
      this.#timer = setTimeout(() => {
        this.#fails = true;
        context.requestCommit();
      }, delayMs);
    }
    await Promise.resolve();
  }

  async put(): Promise<void> {
    await Promise.resolve();
  }

  async preCommit(delivered: ReadonlyMap<string, PartitionOffset>): Promise<readonly PartitionOffset[]> {
    if (this.#fails) {
      this.#fails = false;
      throw failure('task');
    }
    return Promise.resolve([...delivered.values()]);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.resolve();
  }
}
