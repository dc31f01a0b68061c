import {
  topicPartitionKey,
  type Logger,
  type PartitionOffset,
  type SinkRecord,
  type TopicPartition,
} from '../../src/index.ts';
import { partsOf } from '../database/index.ts';
import type { SealedBatch } from './waiting-records.ts';

type Offsets = Record<string, number>;

/**
 * Follows records through a sink at level debug: put, write, commit. A call has at most one entry; a batch has one when
 * its write starts and one when it ends. The fields `firstOffsets`, `endOffsets` and `offsets` contain an offset by
 * `topic/partition`; end offsets are exclusive.
 */
export class SinkLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get #isEnabled(): boolean {
    return this.#logger.isLevelEnabled('debug');
  }

  put(records: readonly SinkRecord[]): void {
    if (records.length === 0 || !this.#isEnabled) return;
    const firstOffsets: Offsets = {};
    const endOffsets: Offsets = {};
    for (const { consumed } of records) {
      const key = topicPartitionKey(consumed.topic, consumed.partition);
      firstOffsets[key] ??= consumed.offset;
      endOffsets[key] = consumed.offset + 1;
    }
    this.#logger.debug({ records: records.length, firstOffsets, endOffsets }, 'Received records');
  }

  putBlock({ topic, partition }: TopicPartition, offsets: ArrayLike<number>): void {
    if (offsets.length === 0 || !this.#isEnabled) return;
    const key = topicPartitionKey(topic, partition);
    const firstOffsets = { [key]: offsets[0] };
    const endOffsets = { [key]: (offsets[offsets.length - 1] ?? 0) + 1 };
    this.#logger.debug({ records: offsets.length, firstOffsets, endOffsets }, 'Received records');
  }

  writing(batch: SealedBatch): void {
    if (this.#isEnabled) this.#logger.debug(batchFields(batch), 'Started to write a batch');
  }

  written(batch: SealedBatch, ms: number): void {
    if (this.#isEnabled) this.#logger.debug({ ...batchFields(batch), ms: Math.round(ms) }, 'Wrote a batch');
  }

  committing(offsets: readonly PartitionOffset[], flush: boolean): void {
    if (this.#isEnabled) this.#logger.debug({ offsets: offsetsByKey(offsets), flush }, 'Returned offsets to commit');
  }

  dropped(partitions: readonly TopicPartition[], positions: readonly PartitionOffset[]): void {
    if (!this.#isEnabled) return;
    const revoked = partitions.map(({ topic, partition }) => topicPartitionKey(topic, partition));
    this.#logger.debug({ revoked, offsets: offsetsByKey(positions) }, 'Dropped records that were not written');
  }
}

function batchFields({ records, decoded }: SealedBatch): object {
  const tables: Record<string, number> = {};
  let statements = 0;
  for (const part of partsOf(decoded)) {
    if (part.kind !== 'rows') {
      statements += 1;
      continue;
    }
    const { table, rowCount } = part.rows.batch;
    tables[table.name] = (tables[table.name] ?? 0) + rowCount;
  }
  const firstOffsets = Object.fromEntries(records.firstOffsets);
  return { records: records.count, tables, statements, firstOffsets, endOffsets: offsetsByKey(records.ends) };
}

function offsetsByKey(offsets: readonly PartitionOffset[]): Offsets {
  return Object.fromEntries(
    offsets.map(({ topic, partition, offset }) => [topicPartitionKey(topic, partition), offset]),
  );
}
