import {
  parseOptions,
  silentLogger,
  toError,
  type ConnectorConfig,
  type PartitionOffset,
  type SinkOffset,
  type SinkTaskContext,
} from '../../src/index.ts';
import { connectionSettings, openExecutor, type Executor } from '../database/index.ts';
import { DeliveryClaims } from './delivery-claims.ts';
import { consumerGroup, isExactlyOnce, offsetTableName } from './delivery-options.ts';
import { DeliveryOffsets, FencedError } from './delivery-offsets.ts';
import { DeliveryStore } from './delivery-store.ts';
import { sinkOptions, type SinkOptions } from './options.ts';
import type { Retries } from './retries.ts';
import type { TableWriter } from './table-writer.ts';

/** What a commit of the group's offsets may wait for. */
const MOVE_TIMEOUT_MS = 2_000;

export interface DeliveryDependencies {
  readonly executor: Executor;
  readonly context: SinkTaskContext;
  readonly writer: TableWriter;
  readonly retries: Retries;
  readonly dropWrites: () => Promise<void>;
}

/** What a task does for `delivery=exactly-once`. */
export class ExactlyOnce {
  readonly claims: DeliveryClaims;
  readonly store: DeliveryStore;
  readonly #dependencies: DeliveryDependencies;

  private constructor(dependencies: DeliveryDependencies, offsets: DeliveryOffsets) {
    const { context } = dependencies;
    this.#dependencies = dependencies;
    this.claims = new DeliveryClaims({ ...dependencies, offsets });
    this.store = new DeliveryStore({
      ...dependencies,
      offsets,
      claims: this.claims,
      refuse: (record, error) => context.errantRecords.report(record, error),
    });
  }

  /** `undefined` when the options ask for at-least-once delivery. */
  static async start(options: SinkOptions, dependencies: DeliveryDependencies): Promise<ExactlyOnce | undefined> {
    const { executor, context } = dependencies;
    const offsets = offsetsOf(executor, options, context.config, context.connectorName);
    if (isExactlyOnce(options)) {
      const warning = await offsets.ensureTable();
      if (warning !== undefined) context.logger.warn(warning);
      return new ExactlyOnce(dependencies, offsets);
    }
    try {
      // Else a later change to exactly-once would go back to where the table was left.
      await offsets.forget();
    } catch (error) {
      context.logger.warn({ err: error }, 'Offsets that may be in the database from before could not be removed');
    }
    return undefined;
  }

  /** Moves offsets behind which nothing waits to be stored, so that what needs no rows is not read again after a restart. */
  async moveIdle(ends: readonly PartitionOffset[]): Promise<void> {
    const { context, retries } = this.#dependencies;
    if (!this.claims.isHeld || retries.isAway) return;
    try {
      await this.store.move(ends, AbortSignal.timeout(MOVE_TIMEOUT_MS));
    } catch (error) {
      if (error instanceof FencedError) this.claims.fenced(error);
      else
        context.logger.warn(`Offsets without rows were not stored; they are with the next: ${toError(error).message}`);
    }
  }
}

/** Changes the offsets of a stopped connector where it keeps them itself. */
export async function alterOffsets(config: ConnectorConfig, changes: readonly SinkOffset[]): Promise<boolean> {
  const options = parseOptions(sinkOptions, config);
  if (!isExactlyOnce(options)) return true;
  const executor = openExecutor(connectionSettings(options), { logger: silentLogger, poolSize: 1 });
  try {
    await offsetsOf(executor, options, config, config['name'] ?? '').alter(changes);
    return true;
  } finally {
    await executor.close();
  }
}

function offsetsOf(
  executor: Executor,
  options: SinkOptions,
  config: ConnectorConfig,
  connectorName: string,
): DeliveryOffsets {
  return new DeliveryOffsets(executor, offsetTableName(options), consumerGroup(config, connectorName));
}
