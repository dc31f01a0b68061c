import assert from 'node:assert/strict';
import { PackedHeaders, RecordPacker, type PackedRecords } from '../../../src/data/packed-records.ts';
import { writeBatch } from '../../../src/kafka/records/record-batch-writer.ts';

type Entry = readonly [key: string | null, value: string];

const OPTIONS = {
  topic: 't',
  nowMs: 1_700_000_000_000,
  producerId: 7,
  producerEpoch: 1,
  baseSequence: 3,
};

function pack(entries: readonly Entry[], fullBytes?: number): PackedRecords[] {
  const packer = new RecordPacker('t', 0, { fullBytes });
  for (const [key, value] of entries) packer.add(key === null ? null : Buffer.from(key), Buffer.from(value));
  return packer.take();
}

function listed(packed: readonly PackedRecords[]): Entry[] {
  return packed.flatMap((part) => part.entries().map(({ key, value }): Entry => [key && String(key), String(value)]));
}

const produced = ([key, value]: Entry) => ({
  topic: 't',
  partition: null,
  key: key === null ? null : Buffer.from(key),
  value: Buffer.from(value),
  timestamp: null,
  headers: [],
});

/** Lengths around those at which a varint becomes longer, one after another in both directions. */
const LENGTHS = [0, 63, 64, 1, 8191, 8192, 20, 90_000, 3, 57, 58, 8180, 8185];
const ENTRIES = LENGTHS.flatMap((length, index): Entry[] => [
  [null, 'v'.repeat(length)],
  ['k'.repeat(index * 13), 'ü'.repeat(length / 2)],
]);

describe('Packed records', () => {
  it('are the bytes of a batch that is written record by record, compressed or not', () => {
    for (const compression of ['none', 'gzip', 'lz4'] as const) {
      const [packed, ...more] = pack(ENTRIES, Number.POSITIVE_INFINITY);
      assert.ok(packed !== undefined && more.length === 0);
      const expected = writeBatch(ENTRIES.map(produced), { ...OPTIONS, compression });
      assert.equal(writeBatch(packed, { ...OPTIONS, compression }).compare(expected), 0, compression);
      // As after an answer that did not come.
      const again = { ...OPTIONS, compression, producerEpoch: 2 };
      assert.equal(writeBatch(packed, again).compare(writeBatch(ENTRIES.map(produced), again)), 0, compression);
    }
  });

  it('with more than 128 records number them as a batch does', () => {
    const entries = Array.from({ length: 20_000 }, (_, index): Entry => [null, String(index)]);
    const [packed] = pack(entries, Number.POSITIVE_INFINITY);
    assert.ok(packed !== undefined);
    const options = { ...OPTIONS, compression: 'none' } as const;
    assert.equal(writeBatch(packed, options).compare(writeBatch(entries.map(produced), options)), 0);
  });

  it('are divided into batches that are full, in order', () => {
    const parts = pack(ENTRIES, 10_000);
    assert.ok(parts.length > 3);
    assert.deepEqual(listed(parts), ENTRIES);
    assert.ok(parts.every(({ bytes }) => bytes.length < 110_000));
  });

  it('are packed again in part', () => {
    const [packed] = pack(ENTRIES, Number.POSITIVE_INFINITY);
    assert.ok(packed !== undefined);
    const [first, second] = [packed.slice(0, 5), packed.slice(5)];
    assert.deepEqual(listed([first]), ENTRIES.slice(0, 5));
    assert.deepEqual(listed([second]), ENTRIES.slice(5));
    const options = { ...OPTIONS, compression: 'none' } as const;
    const expected = writeBatch(ENTRIES.slice(5).map(produced), options);
    assert.equal(writeBatch(second, options).compare(expected), 0);
  });

  it('have the headers of their block, also those without a value, and when they are packed again', () => {
    const list = [
      { key: 'a', value: Buffer.from('1') },
      { key: 'ü'.repeat(40), value: null },
      { key: '', value: Buffer.alloc(200, 'x') },
    ];
    const packer = new RecordPacker('t', 0, { fullBytes: Number.POSITIVE_INFINITY, headers: new PackedHeaders(list) });
    for (const [key, value] of ENTRIES) packer.add(key === null ? null : Buffer.from(key), Buffer.from(value));
    const [packed] = packer.take();
    assert.ok(packed !== undefined);
    assert.deepEqual(listed([packed]), ENTRIES);
    const options = { ...OPTIONS, compression: 'none' } as const;
    const records = ENTRIES.map((entry) => ({ ...produced(entry), headers: list }));
    assert.equal(writeBatch(packed, options).compare(writeBatch(records, options)), 0);
    assert.equal(writeBatch(packed.slice(5), options).compare(writeBatch(records.slice(5), options)), 0);
  });

  it('omit a record that was started and undone', () => {
    const packer = new RecordPacker('t', 0);
    packer.add(null, Buffer.from('a'));
    packer.begin(Buffer.from('key'));
    packer.out.text('dropped');
    packer.undo();
    packer.add(null, Buffer.from('b'));
    const parts = packer.take();
    assert.deepEqual(listed(parts), [
      [null, 'a'],
      [null, 'b'],
    ]);
    assert.equal(parts[0]?.hasKeys, false);
    assert.deepEqual(packer.take(), []);
  });
});
