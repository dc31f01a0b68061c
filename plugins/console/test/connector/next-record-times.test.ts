import assert from 'node:assert/strict';
import type { MessagePage } from '../../src/common/answers.ts';
import { readNextTimes, type ReadMessage } from '../../src/connector/next-record-times.ts';
import type { OffsetRow } from '../../src/connector/offset-rows.ts';

const row = (partition: number, lag: number | null, more: Partial<OffsetRow> = {}): OffsetRow => ({
  key: `orders-${String(partition)}`,
  partition: { kafka_topic: 'orders', kafka_partition: partition },
  current: { kafka_offset: 100 + partition },
  first: { kafka_offset: 7 },
  lag,
  ...more,
});

/** A page with a message at this offset. */
function pageOf(offset: number, timestamp: number | null): MessagePage {
  const part = { kind: 'null' } as const;
  const type = { timestampType: 'CreateTime', bytes: 1, key: part, value: part, headers: [] } as const;
  return {
    topics: [],
    searched: 1,
    next: [],
    messages: [{ topic: 'orders', partition: 0, offset, timestamp, ...type }],
  };
}

/** Resolves with the found times and the places that were read, in order. */
async function reading(rows: readonly OffsetRow[], answer: ReadMessage) {
  const places: string[] = [];
  const times: (readonly [string, number])[] = [];
  const read: ReadMessage = (place) => {
    places.push(`${String(place.partition)}@${String(place.offset)}`);
    return answer(place);
  };
  await readNextTimes(
    rows,
    read,
    (key, time) => times.push([key, time]),
    () => true,
  );
  return { places, times };
}

describe('the times of the next records of a sink', () => {
  it('are read at the positions of partitions with a lag, the largest lag first', async () => {
    const rows = [row(0, 5), row(1, 0), row(2, 90), row(3, null), row(4, 1, { current: null })];
    const { places, times } = await reading(rows, ({ offset }) => Promise.resolve(pageOf(offset, offset * 1000)));
    assert.deepEqual(places, ['2@102', '0@100', '4@7']);
    assert.deepEqual(times, [
      ['orders-2', 102_000],
      ['orders-0', 100_000],
      ['orders-4', 7000],
    ]);
  });

  it('stay unknown if there is no record at the position, it has no timestamp, or reading fails', async () => {
    const answers: Readonly<Record<number, () => Promise<MessagePage>>> = {
      100: () => Promise.resolve(pageOf(99, 1)),
      101: () => Promise.resolve(pageOf(101, null)),
      102: () => Promise.reject(new Error('refused')),
      103: () => Promise.resolve(pageOf(103, 3)),
    };
    const rows = [row(0, 9), row(1, 8), row(2, 7), row(3, 6)];
    const { times } = await reading(rows, ({ offset }) => answers[offset]?.() ?? assert.fail());
    assert.deepEqual(times, [['orders-3', 3]]);
  });

  it('are read for ten partitions at most, and no longer than wanted', async () => {
    const many = Array.from({ length: 30 }, (_, partition) => row(partition, 1));
    const { places } = await reading(many, ({ offset }) => Promise.resolve(pageOf(offset, 1)));
    assert.equal(places.length, 10);
    let reads = 0;
    const read: ReadMessage = ({ offset }) => Promise.resolve(pageOf(offset, (reads += 1)));
    await readNextTimes(
      many,
      read,
      () => assert.fail('the result is not wanted'),
      () => false,
    );
    assert.equal(reads, 1);
  });
});
