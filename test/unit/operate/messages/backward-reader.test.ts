import assert from 'node:assert/strict';
import { BackwardReader, type Bounds, type ReadPartition } from '../../../../src/operate/messages/backward-reader.ts';
import type { ConsumedRecord } from '../../../../src/kafka/api.ts';
import { LogConsumer, logRecord as record } from '../../../support/log-consumer.ts';

const ALL = (): Promise<boolean> => Promise.resolve(true);
const BOUNDS: Bounds = {
  ...{ maxRecords: 1000, maxBytes: 1000, maxWindowBytes: Infinity },
  ...{ signal: new AbortController().signal, deadline: Infinity },
};

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
      new LogConsumer(logs).asConsumer,
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
    const consumer = new LogConsumer([log], [100]);
    const reader = new BackwardReader(consumer.asConsumer, [partitionOf(0, 100)], BOUNDS, 10);
    assert.deepEqual(places(await reader.read(2, ALL)), ['0@97', '0@2']);
    assert.deepEqual(reader.next(), [{ topic: 't', partition: 0, offset: 2 }]);
    assert.equal(consumer.seeks.length, 10);
  });

  it('end a search when enough records were looked at, with the messages found and the place to continue', async () => {
    const log = Array.from({ length: 100 }, (_, offset) => record(0, offset, offset));
    const bounds = { ...BOUNDS, maxRecords: 30 };
    const reader = new BackwardReader(new LogConsumer([log]).asConsumer, [partitionOf(0, 100)], bounds, 20);
    const is75 = ({ offset }: ConsumedRecord): Promise<boolean> => Promise.resolve(offset === 75);
    assert.deepEqual(places(await reader.read(5, is75)), ['0@75']);
    assert.equal(reader.scanned, 40);
    assert.deepEqual(reader.next(), [{ topic: 't', partition: 0, offset: 60 }]);
  });

  it('end without anything when there is no time left, and the same place is asked again', async () => {
    const reader = new BackwardReader(
      new LogConsumer([[record(0, 0, 1)]]).asConsumer,
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
    const reader = new BackwardReader(new LogConsumer([log]).asConsumer, [partitionOf(0, 100)], bounds, 10);
    const none = (): Promise<boolean> => {
      gone.abort();
      return Promise.resolve(false);
    };
    assert.deepEqual(await reader.read(5, none), []);
    assert.ok(reader.scanned <= 10, String(reader.scanned));
  });

  it('keep no more bytes than they may, but one record of any size', async () => {
    const log = Array.from({ length: 16 }, (_, offset) => record(0, offset, offset, offset === 15 ? 5000 : 300));
    const reader = new BackwardReader(new LogConsumer([log]).asConsumer, [partitionOf(0, 16)], BOUNDS, 16);
    assert.deepEqual(places(await reader.read(2, ALL)), ['0@15', '0@14']);
  });

  it('look at windows of limited bytes, however few records they keep', async () => {
    const log = Array.from({ length: 16 }, (_, offset) => record(0, offset, offset, 100));
    const consumer = new LogConsumer([log]);
    const bounds = { ...BOUNDS, maxWindowBytes: 500 };
    const reader = new BackwardReader(consumer.asConsumer, [partitionOf(0, 16)], bounds, 16);
    const isFirst = ({ offset }: ConsumedRecord): Promise<boolean> => Promise.resolve(offset === 0);
    assert.deepEqual(places(await reader.read(1, isFirst)), ['0@0']);
    assert.deepEqual(consumer.seeks, ['0@0', '0@12', '0@8', '0@4', '0@0']);
  });
});
