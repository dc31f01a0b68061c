import assert from 'node:assert/strict';
import type { ConsumedRecord } from '../../../src/kafka/api.ts';
import { ownedRecord } from '../../../src/kafka/records/owned-record.ts';

describe('a retained record (S1)', () => {
  const batch = Buffer.alloc(1_000_000, 'x');
  const record: ConsumedRecord = {
    ...{ topic: 't', partition: 0, offset: 7, timestamp: 5, timestampType: 'CreateTime' },
    key: batch.subarray(0, 3),
    value: batch.subarray(3, 900_000),
    headers: [
      { key: 'h', value: batch.subarray(900_000, 900_002) },
      { key: 'none', value: null },
    ],
  };

  it('does not retain its whole batch, and is equal', () => {
    const owned = ownedRecord(record);
    assert.deepEqual(owned, record);
    const memories = [owned.key, owned.headers[0]?.value].map((bytes) => bytes?.buffer.byteLength ?? Infinity);
    assert.ok(memories.every((bytes) => bytes <= 65_536));
  });

  it('stays a view if it is most of its buffer', () => {
    assert.equal(ownedRecord(record).value?.buffer, batch.buffer);
  });
});
