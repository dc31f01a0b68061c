import type { ConsumedRecord, Consumer, PartitionPosition } from '../../kafka/api.ts';
import { topicPartitionKey } from '../../data/record.ts';

/** A partition that is read backwards. */
export interface ReadPartition {
  readonly topic: string;
  readonly partition: number;
  /** The first offset to read. */
  readonly begin: number;
  /** Records before this offset have not been read. */
  low: number;
  /** Records that were read and not returned yet, the newest last. */
  readonly left: ConsumedRecord[];
}

export interface Bounds {
  /** When this number of records has been examined, no further records are read. */
  readonly maxRecords: number;
  /** Maximum size in bytes of the records in memory. */
  readonly maxBytes: number;
  /** Maximum size in bytes of the records of a window. It ensures that a window is examined before the deadline. */
  readonly maxWindowBytes: number;
  readonly deadline: number;
  /** Aborted when the client no longer waits for the records. */
  readonly signal: AbortSignal;
}

const POLL_MS = 100;

/**
 * Reads the newest records of partitions first, although Kafka only reads forwards: it reads one window of offsets,
 * then the window before it. Records are returned by time, and within a partition by offset, the newest first.
 */
export class BackwardReader {
  readonly #consumer: Consumer;
  readonly #partitions: readonly ReadPartition[];
  readonly #bounds: Bounds;
  #windowRecords: number;
  #scanned = 0;
  #isOver = false;

  /** `windowRecords`: the number of offsets that are read at a time, over the windows of all partitions together. */
  constructor(consumer: Consumer, partitions: readonly ReadPartition[], bounds: Bounds, windowRecords: number) {
    this.#consumer = consumer;
    this.#partitions = partitions;
    this.#bounds = bounds;
    this.#windowRecords = windowRecords;
  }

  /** Number of examined records. */
  get scanned(): number {
    return this.#scanned;
  }

  /** At most `limit` records for which `keep` resolves to true, within the bounds. */
  async read(limit: number, keep: (record: ConsumedRecord) => Promise<boolean>): Promise<ConsumedRecord[]> {
    const found: ConsumedRecord[] = [];
    while (found.length < limit) {
      const empty = this.#partitions.filter(({ left, low, begin }) => left.length === 0 && low > begin);
      this.#isOver ||= this.#scanned >= this.#bounds.maxRecords;
      if (empty.length > 0 && !this.#isOver) {
        await this.#readWindows(empty, keep);
        continue;
      }
      const newest = this.#newest();
      if (newest === undefined) break;
      const record = newest.left.pop();
      if (record !== undefined) found.push(record);
    }
    return found;
  }

  /** The next page has the records before these offsets. Partitions that were read to their beginning are absent. */
  next(): readonly PartitionPosition[] {
    return this.#partitions.flatMap(({ topic, partition, begin, low, left }) => {
      const last = left.at(-1);
      const offset = last === undefined ? low : last.offset + 1;
      return offset > begin ? [{ topic, partition, offset }] : [];
    });
  }

  #newest(): ReadPartition | undefined {
    let newest: ReadPartition | undefined;
    for (const partition of this.#partitions) {
      const time = partition.left.at(-1)?.timestamp;
      if (time !== undefined && time > (newest?.left.at(-1)?.timestamp ?? -Infinity)) newest = partition;
    }
    return newest;
  }

  /**
   * Reads one window of each partition. If the windows have too many bytes, smaller windows or fewer partitions are
   * read.
   */
  async #readWindows(
    partitions: readonly ReadPartition[],
    keep: (record: ConsumedRecord) => Promise<boolean>,
  ): Promise<void> {
    let some = partitions;
    for (;;) {
      const each = Math.max(1, Math.floor(this.#windowRecords / some.length));
      const windows = some.map((partition) => ({
        partition,
        from: Math.max(partition.begin, partition.low - each),
        kept: [],
      }));
      const outcome = await this.#readForwards(windows, keep);
      if (outcome === 'whole') {
        for (const { partition, from, kept } of windows) {
          partition.low = from;
          partition.left.push(...kept);
        }
      }
      if (outcome !== 'too large' || this.#isOver) return;
      if (each > 1) this.#windowRecords = Math.max(1, Math.floor(this.#windowRecords / 4));
      else if (some.length > 1) some = some.slice(0, Math.ceil(some.length / 2));
    }
  }

  async #readForwards(
    windows: readonly Window[],
    keep: (record: ConsumedRecord) => Promise<boolean>,
  ): Promise<'whole' | 'too large' | 'cut'> {
    const consumer = this.#consumer;
    const open = new Map(windows.map((window) => [keyOf(window.partition), window]));
    const isAlone = windows.length === 1 && windows.every(({ partition, from }) => partition.low - from <= 1);
    let bytes = this.#partitions.reduce((sum, { left }) => sum + left.reduce((all, each) => all + sizeOf(each), 0), 0);
    let examined = 0;
    const partitions = windows.map(({ partition }) => placeOf(partition));
    consumer.assign(partitions);
    // Partitions of the previous window may still be paused.
    consumer.resume(partitions);
    for (const { partition, from } of windows) consumer.seek({ ...placeOf(partition), offset: from });
    while (open.size > 0) {
      if (this.#bounds.signal.aborted || Date.now() >= this.#bounds.deadline) {
        this.#isOver = true;
        return 'cut';
      }
      for (const record of await consumer.poll(POLL_MS)) {
        const window = open.get(topicPartitionKey(record.topic, record.partition));
        if (window === undefined || record.offset >= window.partition.low || record.offset < window.from) continue;
        this.#scanned += 1;
        examined += sizeOf(record);
        if (examined > this.#bounds.maxWindowBytes && !isAlone) return 'too large';
        if (!(await keep(record))) continue;
        window.kept.push(record);
        bytes += sizeOf(record);
        if (bytes > this.#bounds.maxBytes && !isAlone) return 'too large';
      }
      // The position also passes control records, and records that compaction removed.
      const done = [...open.values()].filter(
        ({ partition }) => (consumer.position(placeOf(partition)) ?? 0) >= partition.low,
      );
      for (const { partition } of done) open.delete(keyOf(partition));
      if (done.length > 0) consumer.pause(done.map(({ partition }) => placeOf(partition)));
    }
    return 'whole';
  }
}

interface Window {
  readonly partition: ReadPartition;
  readonly from: number;
  readonly kept: ConsumedRecord[];
}

function placeOf({ topic, partition }: ReadPartition): { readonly topic: string; readonly partition: number } {
  return { topic, partition };
}

function keyOf({ topic, partition }: ReadPartition): string {
  return topicPartitionKey(topic, partition);
}

function sizeOf({ key, value, headers }: ConsumedRecord): number {
  return headers.reduce(
    (sum, { value: bytes }) => sum + (bytes?.length ?? 0),
    (key?.length ?? 0) + (value?.length ?? 0),
  );
}
