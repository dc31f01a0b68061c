import assert from 'node:assert/strict';
import type { ConnectValue } from '../../../src/data/value.ts';
import { sinkOffsets, sourceOffsets, type JsonObject } from '../../../src/herder/offset-requests.ts';

const object = (entries: Record<string, ConnectValue>): JsonObject => new Map(Object.entries(entries));

describe('offsets in a request', () => {
  it('of a sink may be numbers or text; of several for a partition the last counts', () => {
    const partition = object({ kafka_topic: 't', kafka_partition: 0n });
    const changes = [
      { partition, offset: object({ kafka_offset: 1n }) },
      { partition: object({ kafka_topic: 't', kafka_partition: '0' }), offset: object({ kafka_offset: '2' }) },
      { partition: object({ kafka_topic: 't', kafka_partition: 1n }), offset: null },
    ];
    assert.deepEqual(sinkOffsets(changes), [
      { topic: 't', partition: 0, offset: 2 },
      { topic: 't', partition: 1, offset: null },
    ]);
  });

  it('of a sink that are not exact, negative or not integers are rejected', () => {
    const partition = object({ kafka_topic: 't', kafka_partition: 0n });
    for (const [value, message] of [
      [9223372036854775807n, /'9223372036854775807'\. Offset values for sink connectors need to be integers\.$/],
      [1.5, /'1\.5'/],
      [-1n, 'Invalid negative offset'],
    ] as const) {
      assert.throws(() => sinkOffsets([{ partition, offset: object({ kafka_offset: value }) }]), {
        status: 400,
        message,
      });
    }
  });

  it('of a source keep 64 bits and take nothing but flat maps of primitives', () => {
    const big = 9007199254740993n;
    const [change] = sourceOffsets([{ partition: object({ file: 'f', n: 1n }), offset: object({ at: big }) }]);
    assert.deepEqual(change, { partition: { file: 'f', n: 1 }, offset: { at: big } });
    for (const [value, what] of [
      [new Map(), 'MAP'],
      [[1n], 'ARRAY'],
      [2n ** 63n, 'class java.math.BigInteger'],
    ] as const) {
      assert.throws(() => sourceOffsets([{ partition: object({ a: value }), offset: null }]), {
        message: `Offsets may only contain primitive types as values, but field a contains ${what}`,
      });
    }
  });
});
