import type { Admin, ConsumedRecord, Consumer } from '../../src/kafka/api.ts';

/** The records of a topic by partition, in offset order. */
export type PartitionLogs = readonly (readonly ConsumedRecord[])[];

const RECORDS_PER_POLL = 3;

/** A record whose value has `size` bytes. */
export function logRecord(partition: number, offset: number, timestamp: number, size = 1): ConsumedRecord {
  const common = { topic: 't', partition, offset, timestamp, timestampType: 'CreateTime' } as const;
  return { ...common, key: null, value: Buffer.alloc(size), headers: [] };
}

/**
 * A consumer of a topic that it has in memory. A poll returns at most three records of each partition. `ends`: end offsets,
 * by default those after the last records. A position before the first record is moved as `reset` specifies.
 */
export class LogConsumer {
  readonly seeks: string[] = [];
  readonly #logs: PartitionLogs;
  readonly #ends: readonly number[];
  readonly #reset: string;
  #positions = new Map<number, number>();
  /** As with Kafka's, a partition that is assigned again is still paused. */
  readonly #paused = new Set<number>();

  constructor(logs: PartitionLogs, ends: readonly number[] = endsOf(logs), reset = 'earliest') {
    this.#logs = logs;
    this.#ends = ends;
    this.#reset = reset;
  }

  assign(partitions: readonly { partition: number }[]): void {
    this.#positions = new Map(partitions.map(({ partition }) => [partition, 0]));
  }

  seek({ partition, offset }: { partition: number; offset: number }): void {
    this.#positions.set(partition, offset);
    this.seeks.push(`${String(partition)}@${String(offset)}`);
  }

  pause(partitions: readonly { partition: number }[]): void {
    for (const { partition } of partitions) this.#paused.add(partition);
  }

  resume(partitions: readonly { partition: number }[]): void {
    for (const { partition } of partitions) this.#paused.delete(partition);
  }

  position({ partition }: { partition: number }): number | undefined {
    return this.#positions.get(partition);
  }

  poll(): Promise<readonly ConsumedRecord[]> {
    const found: ConsumedRecord[] = [];
    for (const [partition, given] of this.#positions) {
      if (this.#paused.has(partition)) continue;
      const log = this.#logs[partition] ?? [];
      const end = this.#ends[partition] ?? 0;
      const isLost = given < (log[0]?.offset ?? end);
      if (isLost && this.#reset === 'none') return Promise.reject(new Error('the position is out of range'));
      const position = isLost && this.#reset === 'latest' ? end : given;
      const some = log.filter(({ offset }) => offset >= position).slice(0, RECORDS_PER_POLL);
      found.push(...some);
      this.#positions.set(partition, (some.at(-1)?.offset ?? end - 1) + 1);
    }
    return Promise.resolve(found);
  }

  wakeup(): void {
    // No poll waits.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  get asConsumer(): Consumer {
    return this as unknown as Consumer;
  }
}

/** An admin client of the topic `t`. */
export function logAdmin(ends: readonly number[]): Admin {
  const admin: Partial<Admin> = {
    describeTopics: () => Promise.resolve(new Map([['t', ends.length]])),
    endOffsets: () => Promise.resolve(ends.map((offset, partition) => ({ topic: 't', partition, offset }))),
    close: () => Promise.resolve(),
  };
  return admin as Admin;
}

function endsOf(logs: PartitionLogs): number[] {
  return logs.map((log) => (log.at(-1)?.offset ?? -1) + 1);
}
