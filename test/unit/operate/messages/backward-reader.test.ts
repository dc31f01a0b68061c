import assert from 'node:assert/strict';
import { BackwardReader, type Bounds, type ReadPartition } from '../../../../src/operate/messages/backward-reader.ts';
import type { ConsumedRecord, Consumer } from '../../../../src/kafka/api.ts';

const ALL = (): Promise<boolean> => Promise.resolve(true);
const BOUNDS: Bounds = {
  ...{ maxRecords: 1000, maxBytes: 1000, maxWindowBytes: Infinity },
  ...{ signal: new AbortController().signal, deadline: Infinity },
};

function record(partition: number, offset: number, timestamp: number, size = 1): ConsumedRecord {
  const common = { topic: 't', partition, offset, timestamp, timestampType: 'CreateTime' } as const;
  return { ...common, key: null, value: Buffer.alloc(size), headers: [] };
}

/** Reads forwards, three records at a time. */
class FakeConsumer {
  readonly seeks: string[] = [];
  readonly #logs: readonly (readonly ConsumedRecord[])[];
  readonly #ends: readonly number[];
  #positions = new Map<number, number>();
  /** As with Kafka's, a partition that is assigned again is still paused. */
  readonly #paused = new Set<number>();

  constructor(logs: readonly (readonly ConsumedRecord[])[], ends?: readonly number[]) {
    this.#logs = logs;
    this.#ends = ends ?? logs.map((log) => (log.at(-1)?.offset ?? -1) + 1);
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
    for (const [partition, position] of this.#positions) {
      if (this.#paused.has(partition)) continue;
      const some = (this.#logs[partition] ?? []).filter(({ offset }) => offset >= position).slice(0, 3);
      found.push(...some);
      this.#positions.set(partition, (some.at(-1)?.offset ?? (this.#ends[partition] ?? 0) - 1) + 1);
    }
    return Promise.resolve(found);
  }

  get asConsumer(): Consumer {
    return this as unknown as Consumer;
  }
}

function partitionOf(partition: number, low: number, begin = 0): ReadPartition {
  return { topic: 't', partition, begin, low, left: [] };
}

const places = (records: readonly ConsumedRecord[]) =>
  records.map(({ partition, offset }) => `${String(partition)}@${String(offset)}`);

describe('topics that are read backwards', () => {
  it('give the newest records first, over partitions by time and within a partition by offset', async () => {
    const logs = [
      [record(0, 0, 10), record(0, 1, 40), record(0, 2, 30)],
      [record(1, 0, 20), record(1, 1, 50)],
    ];
    const reader = new BackwardReader(
      new FakeConsumer(logs).asConsumer,
      [partitionOf(0, 3), partitionOf(1, 2)],
      BOUNDS,
      10,
    );
    assert.deepEqual(places(await reader.read(3, ALL)), ['1@1', '0@2', '0@1']);
    assert.deepEqual(reader.next(), [
      { topic: 't', partition: 0, offset: 1 },
      { topic: 't', partition: 1, offset: 1 },
    ]);
    assert.deepEqual(places(await reader.read(9, ALL)), ['1@0', '0@0']);
    assert.deepEqual(reader.next(), []);
  });

  it('continue before gaps that compaction has left', async () => {
    const log = [record(0, 1, 1), record(0, 2, 2), record(0, 97, 3)];
    const consumer = new FakeConsumer([log], [100]);
    const reader = new BackwardReader(consumer.asConsumer, [partitionOf(0, 100)], BOUNDS, 10);
    assert.deepEqual(places(await reader.read(2, ALL)), ['0@97', '0@2']);
    assert.deepEqual(reader.next(), [{ topic: 't', partition: 0, offset: 2 }]);
    assert.equal(consumer.seeks.length, 10);
  });

  it('end a search when enough records were looked at, with the messages found and the place to continue', async () => {
    const log = Array.from({ length: 100 }, (_, offset) => record(0, offset, offset));
    const bounds = { ...BOUNDS, maxRecords: 30 };
    const reader = new BackwardReader(new FakeConsumer([log]).asConsumer, [partitionOf(0, 100)], bounds, 20);
    const is75 = ({ offset }: ConsumedRecord): Promise<boolean> => Promise.resolve(offset === 75);
    assert.deepEqual(places(await reader.read(5, is75)), ['0@75']);
    assert.equal(reader.scanned, 40);
    assert.deepEqual(reader.next(), [{ topic: 't', partition: 0, offset: 60 }]);
  });

  it('end without anything when there is no time left, and the same place is asked again', async () => {
    const reader = new BackwardReader(
      new FakeConsumer([[record(0, 0, 1)]]).asConsumer,
      [partitionOf(0, 1)],
      { ...BOUNDS, deadline: 0 },
      10,
    );
    assert.deepEqual(await reader.read(5, ALL), []);
    assert.deepEqual(reader.next(), [{ topic: 't', partition: 0, offset: 1 }]);
  });

  it('end when nobody waits for them any more', async () => {
    const log = Array.from({ length: 100 }, (_, offset) => record(0, offset, offset));
    const gone = new AbortController();
    const bounds = { ...BOUNDS, signal: gone.signal };
    const reader = new BackwardReader(new FakeConsumer([log]).asConsumer, [partitionOf(0, 100)], bounds, 10);
    const none = (): Promise<boolean> => {
      gone.abort();
      return Promise.resolve(false);
    };
    assert.deepEqual(await reader.read(5, none), []);
    assert.ok(reader.scanned <= 10, String(reader.scanned));
  });

  it('keep no more bytes than they may, but one record of any size', async () => {
    const log = Array.from({ length: 16 }, (_, offset) => record(0, offset, offset, offset === 15 ? 5000 : 300));
    const reader = new BackwardReader(new FakeConsumer([log]).asConsumer, [partitionOf(0, 16)], BOUNDS, 16);
    assert.deepEqual(places(await reader.read(2, ALL)), ['0@15', '0@14']);
  });

  it('look at windows of limited bytes, however few records they keep', async () => {
    const log = Array.from({ length: 16 }, (_, offset) => record(0, offset, offset, 100));
    const consumer = new FakeConsumer([log]);
    const bounds = { ...BOUNDS, maxWindowBytes: 500 };
    const reader = new BackwardReader(consumer.asConsumer, [partitionOf(0, 16)], bounds, 16);
    const isFirst = ({ offset }: ConsumedRecord): Promise<boolean> => Promise.resolve(offset === 0);
    assert.deepEqual(places(await reader.read(1, isFirst)), ['0@0']);
    assert.deepEqual(consumer.seeks, ['0@0', '0@12', '0@8', '0@4', '0@0']);
  });
});
