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

/** What a commit of the group's offsets may wait for. */
const MOVE_TIMEOUT_MS = 2_000;

/** What a task does for `delivery=exactly-once`. */
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

  /** Moves offsets behind which nothing waits to be stored, so that what needs no rows is not read again after a restart. */
  async moveIdle(ends: readonly PartitionOffset[]): Promise<void> {
    if (!this.claims.isHeld || this.#retries.isAway) return;
    try {
      await this.store.move(ends, AbortSignal.timeout(MOVE_TIMEOUT_MS));
    } catch (error) {
      if (error instanceof FencedError) this.claims.fenced(error);
      else this.#logger.warn(`Offsets without rows were not stored; they are with the next: ${toError(error).message}`);
    }
  }
}

/** The table of offsets is created for exactly-once delivery. For at-least-once delivery it loses the offsets of the connector. */
export async function prepareOffsets(offsets: DeliveryOffsets, exactlyOnce: boolean, logger: Logger): Promise<void> {
  if (exactlyOnce) {
    const warning = await offsets.ensureTable();
    if (warning !== undefined) logger.warn(warning);
    return;
  }
  try {
    // Else a later change to exactly-once would go back to where the table was left.
    await offsets.forget();
  } catch (error) {
    logger.warn({ err: error }, 'Offsets that may be in the database from before could not be removed');
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

export function offsetsOf(
  executor: Executor,
  options: SinkOptions,
  config: ConnectorConfig,
  connectorName: string,
): DeliveryOffsets {
  return new DeliveryOffsets(executor, offsetTableName(options), consumerGroup(config, connectorName));
}
