import {
  parseOptions,
  silentLogger,
  toError,
  type ConnectorConfig,
  type Logger,
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

/** Time limit for moving offsets during a commit of the group's offsets. */
const MOVE_TIMEOUT_MS = 2_000;

/** The parts of a task that implement `delivery=exactly-once`. */
export class ExactlyOnce {
  readonly claims: DeliveryClaims;
  readonly store: DeliveryStore;
  readonly #logger: Logger;
  readonly #retries: Retries;

  constructor(
    offsets: DeliveryOffsets,
    context: SinkTaskContext,
    writer: TableWriter,
    retries: Retries,
    dropWrites: () => Promise<void>,
  ) {
    this.#logger = context.logger;
    this.#retries = retries;
    this.claims = new DeliveryClaims(offsets, context, retries, dropWrites);
    this.store = new DeliveryStore(offsets, this.claims, writer, retries, (record, error) =>
      context.errantRecords.report(record, error),
    );
  }

  /**
   * Moves the offsets of partitions without pending records, so that records without rows are not read again after a
   * restart.
   */
  async moveIdle(ends: readonly PartitionOffset[]): Promise<void> {
    if (!this.claims.isHeld || this.#retries.isUnavailable) return;
    try {
      await this.store.move(ends, AbortSignal.timeout(MOVE_TIMEOUT_MS));
    } catch (error) {
      if (error instanceof FencedError) this.claims.fenced(error);
      else
        this.#logger.warn(
          `Failed to store offsets without rows; they will be included in the next write: ${toError(error).message}`,
        );
    }
  }
}

/** Creates the offsets table for exactly-once delivery; otherwise, deletes the connector's offsets from it. */
export async function prepareOffsets(offsets: DeliveryOffsets, exactlyOnce: boolean, logger: Logger): Promise<void> {
  if (exactlyOnce) {
    const warning = await offsets.ensureTable();
    if (warning !== undefined) logger.warn(warning);
    return;
  }
  try {
    // Outdated offsets would be used if the connector were switched to exactly-once delivery later.
    await offsets.forget();
  } catch (error) {
    logger.warn({ err: error }, 'Failed to delete earlier offsets from the database');
  }
}

/** Changes the offsets of a stopped connector if they are stored in the database. */
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

export function offsetsOf(
  executor: Executor,
  options: SinkOptions,
  config: ConnectorConfig,
  connectorName: string,
): DeliveryOffsets {
  return new DeliveryOffsets(executor, offsetTableName(options), consumerGroup(config, connectorName));
}
