import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import type { PartitionPosition, RecordBlock } from '../../kafka/api.ts';
import type { Logger } from '../../observe/logger.ts';
import { valueBytes } from './consumer-holds.ts';

/**
 * Logs the path of a sink task's records at level debug: rebalance, poll, put, commit. Lines about offsets have the fields
 * `topic` and `partition`. End offsets are exclusive.
 */
export class SinkTaskLog {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get #isEnabled(): boolean {
    return this.#logger.isLevelEnabled('debug');
  }

  assigned({ topic, partition }: TopicPartition, offset: number | undefined): void {
    this.#logger.debug({ topic, partition, offset }, 'The partition was assigned');
  }

  revoked(partitions: readonly TopicPartition[], isLost: boolean): void {
    if (!this.#isEnabled) return;
    const message = isLost ? 'The partition was lost' : 'The partition was revoked';
    for (const { topic, partition } of partitions) this.#logger.debug({ topic, partition }, message);
  }

  /** Logs one line for each partition. */
  polled(blocks: readonly RecordBlock[]): void {
    if (blocks.length === 0 || !this.#isEnabled) return;
    const byPartition = new Map<string, RecordBlock[]>();
    for (const block of blocks) {
      const key = topicPartitionKey(block.topic, block.partition);
      byPartition.set(key, [...(byPartition.get(key) ?? []), block]);
    }
    for (const all of byPartition.values()) {
      const [first, last] = [all[0], all.at(-1)];
      if (first === undefined || last === undefined) continue;
      const { topic, partition, offsets } = first;
      const records = all.reduce((sum, { count }) => sum + count, 0);
      const endOffset = (last.offsets[last.count - 1] ?? -1) + 1;
      const fields = { topic, partition, records, bytes: valueBytes(all), firstOffset: offsets[0], endOffset };
      this.#logger.debug(fields, 'Polled records');
    }
  }

  put(records: number, ms: number): void {
    if (records > 0) this.#logger.debug({ records, ms: Math.round(ms) }, 'Put records');
  }

  committing(positions: readonly PartitionPosition[], flush: boolean): void {
    this.#logOffsets(positions, { flush }, 'Committing an offset');
  }

  committed(positions: readonly PartitionPosition[], ms: number): void {
    this.#logOffsets(positions, { ms: Math.round(ms) }, 'Committed an offset');
  }

  #logOffsets(positions: readonly PartitionPosition[], fields: object, message: string): void {
    if (!this.#isEnabled) return;
    for (const { topic, partition, offset } of positions) {
      this.#logger.debug({ topic, partition, offset, ...fields }, message);
    }
  }
}
