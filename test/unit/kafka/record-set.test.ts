import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ConsumedRecord, ProducedRecord } from '../../../src/kafka/api.ts';
import { RecordFormatError } from '../../../src/kafka/errors/kafka-errors.ts';
import { BatchAttribute, BatchField, nextOffsetOf, writeInt64 } from '../../../src/kafka/records/record-batch.ts';
import { writeBatch } from '../../../src/kafka/records/record-batch-writer.ts';
import { RecordSet, type AbortedTransaction } from '../../../src/kafka/records/record-set.ts';
import { crc32c } from '../../../src/kafka/records/crc32c.ts';

function record(value: string | null, over: Partial<ProducedRecord> = {}): ProducedRecord {
  return {
    topic: 't',
    partition: 0,
    key: null,
    value: value === null ? null : Buffer.from(value),
    timestamp: 1000,
    headers: [],
    ...over,
  };
}

interface BatchPlace {
  readonly at?: number;
  readonly producerId?: number;
  readonly attributes?: number;
  readonly lastOffsetDelta?: number;
}

/** A batch as stored by a broker, optionally transactional. */
function batch(records: readonly ProducedRecord[], place: BatchPlace = {}): Buffer {
  const { producerId = -1 } = place;
  const bytes = writeBatch(records, {
    topic: 't',
    compression: 'none',
    nowMs: 5000,
    producerId,
    producerEpoch: 0,
    baseSequence: 0,
  });
  writeInt64(bytes, place.at ?? 0, BatchField.baseOffset);
  if (place.attributes !== undefined) bytes.writeInt16BE(place.attributes, BatchField.attributes);
  if (place.lastOffsetDelta !== undefined) bytes.writeInt32BE(place.lastOffsetDelta, BatchField.lastOffsetDelta);
  bytes.writeUInt32BE(crc32c(bytes, BatchField.attributes, bytes.length), BatchField.crc);
  return bytes;
}

const MARKER = BatchAttribute.transactional | BatchAttribute.control;

function marker(kind: 'abort' | 'commit', at: number, producerId: number): Buffer {
  const key = Buffer.from([0, 0, 0, kind === 'abort' ? 0 : 1]);
  return batch([record('', { key })], { at, producerId, attributes: MARKER });
}

function setOf(bytes: Buffer, fetchOffset = 0, aborted?: readonly AbortedTransaction[]): RecordSet {
  return new RecordSet(
    { topic: 't', partition: 3, bytes, fetchOffset },
    { checkCrcs: true, aborted, maxUnpackedBytes: 67_108_864 },
  );
}

function readAll(set: RecordSet): ConsumedRecord[] {
  const records: ConsumedRecord[] = [];
  while (!set.read(records, 100));
  return records;
}

function values(records: readonly ConsumedRecord[]): (string | null)[] {
  return records.map(({ value }) => value?.toString() ?? null);
}

describe('a record set', () => {
  it('returns records with topic, partition, offset, key, value, timestamp and headers in order', () => {
    const headers = [
      { key: 'b', value: Buffer.from('1') },
      { key: 'a', value: null },
      { key: 'b', value: Buffer.from('2') },
    ];
    const bytes = batch([record('x', { key: Buffer.from('k'), headers, timestamp: 7 }), record(null)], { at: 41 });
    assert.deepEqual(readAll(setOf(bytes)), [
      {
        topic: 't',
        partition: 3,
        offset: 41,
        timestamp: 7,
        timestampType: 'CreateTime',
        key: Buffer.from('k'),
        value: Buffer.from('x'),
        headers,
      },
      {
        topic: 't',
        partition: 3,
        offset: 42,
        timestamp: 1000,
        timestampType: 'CreateTime',
        key: null,
        value: null,
        headers: [],
      },
    ]);
  });

  it('survives a round trip with arbitrary records', () => {
    const bytes = fc.option(fc.uint8Array({ maxLength: 300 }), { nil: null });
    const anyRecord = fc.record({
      key: bytes,
      value: bytes,
      timestamp: fc.integer({ min: -(2 ** 45), max: 2 ** 45 }),
      headers: fc.array(fc.record({ key: fc.string({ unit: 'grapheme' }), value: bytes }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(anyRecord, { minLength: 1, maxLength: 200 }), fc.nat(2 ** 40), (assigned, at) => {
        const read = readAll(
          setOf(
            batch(
              assigned.map((each) => record(null, each)),
              { at },
            ),
          ),
        );
        assert.equal(read.length, assigned.length);
        read.forEach(({ offset, key, value, timestamp, headers }, index) => {
          const expected = assigned[index];
          assert.equal(offset, at + index);
          assert.equal(timestamp, expected?.timestamp);
          assert.deepEqual(key, expected?.key && Buffer.from(expected.key));
          assert.deepEqual(value, expected?.value && Buffer.from(expected.value));
          const plain = expected?.headers.map((header) => ({
            key: header.key,
            value: header.value && Buffer.from(header.value),
          }));
          assert.deepEqual(headers, plain);
        });
      }),
      { numRuns: 100 },
    );
  });

  it('returns at most the requested number of records, and continues where it stopped', () => {
    const set = setOf(Buffer.concat([batch([record('a'), record('b'), record('c')]), batch([record('d')], { at: 3 })]));
    const records: ConsumedRecord[] = [];
    assert.equal(set.read(records, 2), false);
    assert.equal(set.nextOffset, 2);
    assert.equal(set.read(records, 1), false);
    assert.equal(set.nextOffset, 3);
    assert.equal(set.read(records, 100), true);
    assert.deepEqual(values(records), ['a', 'b', 'c', 'd']);
    assert.equal(set.nextOffset, 4);
  });

  it('skips records before the requested offset', () => {
    const bytes = batch([record('a'), record('b'), record('c')], { at: 10 });
    assert.deepEqual(values(readAll(setOf(bytes, 11))), ['b', 'c']);
  });

  it('skips gaps and empty batches that compaction left', () => {
    const empty = batch([record('gone')], { at: 12, lastOffsetDelta: 4 }).subarray(0, BatchField.records);
    const emptied = Buffer.from(empty);
    emptied.writeInt32BE(0, BatchField.recordCount);
    emptied.writeInt32BE(emptied.length - 12, BatchField.length);
    emptied.writeUInt32BE(crc32c(emptied, BatchField.attributes, emptied.length), BatchField.crc);
    const set = setOf(Buffer.concat([batch([record('a')], { at: 10, lastOffsetDelta: 1 }), emptied]), 10);
    assert.deepEqual(values(readAll(set)), ['a']);
    assert.equal(set.nextOffset, 17);
  });

  it('ignores a batch that the broker truncated', () => {
    const whole = batch([record('a')]);
    const cut = batch([record('b')], { at: 1 }).subarray(0, -1);
    const bytes = Buffer.concat([whole, cut]);
    assert.equal(nextOffsetOf(bytes), 1);
    assert.deepEqual(values(readAll(setOf(bytes))), ['a']);
    assert.equal(nextOffsetOf(cut), undefined);
  });

  it('uses the append time for LogAppendTime', () => {
    const bytes = batch([record('a', { timestamp: 5 }), record('b', { timestamp: 9 })], {
      attributes: BatchAttribute.logAppendTime,
    });
    const read = readAll(setOf(bytes));
    assert.deepEqual(
      read.map(({ timestamp, timestampType }) => [timestamp, timestampType]),
      [
        [9, 'LogAppendTime'],
        [9, 'LogAppendTime'],
      ],
    );
  });

  it('always hides transaction markers, and aborted records with read_committed', () => {
    const open = { attributes: BatchAttribute.transactional };
    const bytes = Buffer.concat([
      batch([record('aborted of 7')], { at: 0, producerId: 7, ...open }),
      batch([record('committed of 8')], { at: 1, producerId: 8, ...open }),
      marker('abort', 2, 7),
      batch([record('second of 7')], { at: 3, producerId: 7, ...open }),
      marker('commit', 4, 8),
      marker('commit', 5, 7),
      batch([record('plain')], { at: 6 }),
    ]);
    const committed = setOf(bytes, 0, [{ producerId: 7, firstOffset: 0 }]);
    assert.deepEqual(values(readAll(committed)), ['committed of 8', 'second of 7', 'plain']);
    assert.equal(committed.nextOffset, 7);
    assert.deepEqual(values(readAll(setOf(bytes))), ['aborted of 7', 'committed of 8', 'second of 7', 'plain']);
  });

  it('advances past a set without visible records', () => {
    const set = setOf(marker('commit', 8, 7), 8);
    assert.deepEqual(readAll(set), []);
    assert.equal(set.nextOffset, 9);
  });

  it('reports the position of a corrupt batch', () => {
    const bytes = batch([record('a')], { at: 77 });
    bytes[bytes.length - 2] = (bytes.at(-2) ?? 0) ^ 1;
    assert.throws(
      () => readAll(setOf(bytes, 77)),
      (error: unknown) => {
        assert.ok(error instanceof RecordFormatError);
        assert.equal(error.message, 'Topic t, partition 3, offset 77: the checksum of the batch is wrong');
        return true;
      },
    );
  });

  it('returns the records before a corrupt batch, and fails at each further attempt', () => {
    const damaged = batch([record('c')], { at: 2 });
    damaged[damaged.length - 2] = (damaged.at(-2) ?? 0) ^ 1;
    const set = setOf(Buffer.concat([batch([record('a'), record('b')]), damaged, batch([record('d')], { at: 3 })]));
    const block = set.readBlock(100);
    assert.deepEqual([...(block?.offsets ?? [])].slice(0, block?.count), [0, 1]);
    assert.equal(set.nextOffset, 2);
    for (let attempt = 0; attempt < 2; attempt++)
      assert.throws(() => set.readBlock(100), /offset 2: the checksum of the batch is wrong/);
    assert.equal(set.nextOffset, 2);
  });

  it('returns uncompressed batches as one block with headers and nulls', () => {
    const header = { key: 'h', value: Buffer.from('1') };
    const set = setOf(
      Buffer.concat([batch([record('a'), record(null)]), batch([record('c', { headers: [header] })], { at: 2 })]),
    );
    const block = set.readBlock(100);
    assert.equal(block?.count, 3);
    assert.deepEqual(
      [0, 1, 2].map((index) => block?.value(index)?.toString() ?? null),
      ['a', null, 'c'],
    );
    assert.deepEqual(
      [0, 2].map((index) => block?.headers(index).length),
      [0, 1],
    );
    assert.equal(set.readBlock(100), undefined);
  });

  it('reports message formats older than Kafka 0.11', () => {
    const bytes = batch([record('a')]);
    bytes.writeInt8(1, BatchField.magic);
    assert.throws(() => readAll(setOf(bytes)), /message format 1 \(before Kafka 0\.11\) cannot be read/);
  });

  it('reports an unknown compression type', () => {
    assert.throws(
      () => readAll(setOf(batch([record('a')], { attributes: 6 }))),
      /Topic t, partition 3, offset 0: the batch has an unknown compression type/,
    );
  });
});
