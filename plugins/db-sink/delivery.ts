import {
  connectionSettings,
  openExecutor,
  parseOptions,
  silentLogger,
  toError,
  type ConnectorConfig,
  type Executor,
  type PartitionOffset,
  type SinkOffset,
  type SinkTaskContext,
} from '../../src/index.ts';
import { DeliveryClaims } from './delivery-claims.ts';
import { consumerGroup, isExactlyOnce, offsetTableName } from './delivery-options.ts';
import { DeliveryOffsets, FencedError } from './delivery-offsets.ts';
import { DeliveryStore } from './delivery-store.ts';
import { sinkOptions, type SinkOptions } from './options.ts';
import type { Retries } from './retries.ts';
import type { TableWriter } from './table-writer.ts';

/** What a commit of the group's offsets may wait for. */
const MOVE_TIMEOUT_MS = 2_000;

export interface DeliveryParts {
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
  readonly #parts: DeliveryParts;

  private constructor(parts: DeliveryParts, offsets: DeliveryOffsets) {
    const { context } = parts;
    this.#parts = parts;
    this.claims = new DeliveryClaims({ ...parts, offsets });
    this.store = new DeliveryStore({
      ...parts,
      offsets,
      claims: this.claims,
      refuse: (record, error) => context.errantRecords.report(record, error),
    });
  }

  /** `undefined` when the options ask for at-least-once delivery. */
  static async start(options: SinkOptions, parts: DeliveryParts): Promise<ExactlyOnce | undefined> {
    const { executor, context } = parts;
    const offsets = offsetsOf(executor, options, context.config, context.connectorName);
    if (isExactlyOnce(options)) {
      await offsets.ensureTable();
      return new ExactlyOnce(parts, offsets);
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
    const { context, retries } = this.#parts;
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
