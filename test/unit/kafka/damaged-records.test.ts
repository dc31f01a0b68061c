import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import type { ProducedRecord } from '../../../src/kafka/api.ts';
import { RecordFormatError } from '../../../src/kafka/errors.ts';
import { codecFor, type PackedType } from '../../../src/kafka/records/codecs.ts';
import { crc32c } from '../../../src/kafka/records/crc32c.ts';
import { BatchAttribute, BatchField, nextOffsetOf, writeInt64 } from '../../../src/kafka/records/record-batch.ts';
import { writeBatch } from '../../../src/kafka/records/record-batch-writer.ts';
import { readWhole } from '../../properties/damaged-records.ts';

const AT = 40;

function record(value: string, headers: ProducedRecord['headers'] = []): ProducedRecord {
  return { topic: 't', partition: 0, key: null, value: Buffer.from(value), timestamp: 1000, headers };
}

function batch(records: readonly ProducedRecord[], compression: PackedType | 'none' = 'none'): Buffer {
  const stamp = { producerId: 7, producerEpoch: 0, baseSequence: 0 };
  const bytes = writeBatch(records, { topic: 't', compression, nowMs: 5000, ...stamp });
  writeInt64(bytes, AT, BatchField.baseOffset);
  return bytes;
}

/** The same with a right checksum, so that only what was changed is wrong. */
function changed(bytes: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return sealed(copy);
}

function sealed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32c(bytes, BatchField.attributes, bytes.length), BatchField.crc);
  return bytes;
}

/** A batch whose records are these bytes, packed by the codec of this number. */
function packedBatch(packed: Buffer, codec: number): Buffer {
  const bytes = Buffer.concat([batch([record('x')]).subarray(0, BatchField.records), packed]);
  bytes.writeInt32BE(bytes.length - 12, BatchField.length);
  bytes.writeInt16BE(codec, BatchField.attributes);
  return sealed(bytes);
}

const three = batch([record('a'), record('b'), record('c')]);
/** Length, attributes, timestamp delta, offset delta, key length, value length, value, count of headers. */
const FIRST = BatchField.records;
const SECOND = FIRST + 8;

const DAMAGES: readonly (readonly [what: string, bytes: Buffer, message: RegExp])[] = [
  [
    'a negative batch length',
    changed(three, (b) => b.writeInt32BE(-12, BatchField.length)),
    /length of the batch is -12/,
  ],
  ['a batch length of 0', changed(three, (b) => b.writeInt32BE(0, BatchField.length)), /length of the batch is 0/],
  [
    'a batch longer than the answer',
    changed(three, (b) => b.writeInt32BE(2 ** 31 - 1, BatchField.length)),
    /no whole batch/,
  ],
  ['-1 records', changed(three, (b) => b.writeInt32BE(-1, BatchField.recordCount)), /the batch has -1 records/],
  [
    'more records than there are',
    changed(three, (b) => b.writeInt32BE(2 ** 31 - 1, BatchField.recordCount)),
    /beyond its batch/,
  ],
  [
    'fewer records than there are',
    changed(three, (b) => b.writeInt32BE(2, BatchField.recordCount)),
    /longer than its records/,
  ],
  [
    'a last offset before the first',
    changed(three, (b) => b.writeInt32BE(-1, BatchField.lastOffsetDelta)),
    /end -1 later/,
  ],
  [
    'a last offset before that of the records',
    changed(three, (b) => b.writeInt32BE(1, BatchField.lastOffsetDelta)),
    /offset of a record/,
  ],
  [
    'an offset that is no number',
    changed(three, (b) => b.writeBigInt64BE(2n ** 62n, 0)),
    /begin at 4611686018427387904/,
  ],
  ['a negative offset', changed(three, (b) => b.writeBigInt64BE(-5n, 0)), /begin at -5/],
  ['an earlier offset than was asked for', changed(three, (b) => writeInt64(b, 10, 0)), /no whole batch/],
  ['offsets that repeat', changed(three, (b) => (b[SECOND + 3] = 0)), /offset of a record is not in its place/],
  ['a negative record length', changed(three, (b) => (b[SECOND] = 3)), /beyond its batch/],
  ['a record that ends before its fields', changed(three, (b) => (b[SECOND] = 12)), /not that of its fields/],
  [
    'a key of 2^31 bytes',
    packedBatch(Buffer.from('1a000000feffffff0f00', 'hex'), 0),
    /beyond its batch|not that of its fields/,
  ],
  ['a varint without end', changed(three, (b) => b.fill(0xff, FIRST)), /beyond its batch/],
  [
    'a format of before Kafka 0.11',
    changed(three, (b) => b.writeInt8(1, BatchField.magic)),
    /message format 1 \(before Kafka 0\.11\)/,
  ],
  ['a format that is none', changed(three, (b) => b.writeInt8(77, BatchField.magic)), /unknown message format 77/],
  [
    'a wrong checksum',
    Buffer.from(three).fill(1, BatchField.crc, BatchField.crc + 4),
    /checksum of the batch is wrong/,
  ],
  ['an unknown codec', changed(three, (b) => b.writeInt16BE(7, BatchField.attributes)), /unknown compression type/],
  [
    'gzip that is none',
    packedBatch(Buffer.from('hello, world'), 1),
    /gzip batch of offsets \d+ to \d+ cannot be unpacked/,
  ],
  [
    'snappy with a block of -4 bytes',
    packedBatch(xerial(-4), 2),
    /snappy batch of offsets \d+ to \d+ cannot be unpacked: a block goes beyond/,
  ],
  ['snappy of 4 GB', packedBatch(Buffer.from('ffffffff0f0000', 'hex'), 2), /snappy .*more than 67108864 bytes/],
  ['gzip of 100 MB', packedBatch(zlib.gzipSync(Buffer.alloc(100_000_000)), 1), /gzip .*more than 67108864 bytes/],
  [
    'lz4 of 100 MB',
    packedBatch(codecFor('lz4', 't').compress(Buffer.alloc(100_000_000)), 3),
    /lz4 .*more than 67108864 bytes/,
  ],
  ['zstd of 1 GB', packedBatch(zstdBomb(8192), 4), /zstd .*more than 67108864 bytes/],
  ['two batches in the wrong order', Buffer.concat([three, three]), /a batch of offset 40 follows, which is earlier/],
  ['a marker without a key', marker(changed(three, () => undefined)), /a transaction marker cannot be read/],
];

function xerial(length: number): Buffer {
  const bytes = Buffer.alloc(24);
  Buffer.from('82534e4150505900', 'hex').copy(bytes);
  bytes.writeInt32BE(length, 16);
  return bytes;
}

/** Blocks that repeat one byte 128 KiB times, in a frame with a window of 8 MiB. */
function zstdBomb(blocks: number): Buffer {
  const block = Buffer.alloc(4);
  block.writeUIntLE((131_072 << 3) | (1 << 1), 0, 3);
  return Buffer.concat([Buffer.from('28b52ffd0068', 'hex'), ...Array.from({ length: blocks }, () => block)]);
}

function marker(bytes: Buffer): Buffer {
  return changed(bytes, (b) =>
    b.writeInt16BE(BatchAttribute.transactional | BatchAttribute.control, BatchField.attributes),
  );
}

describe('damaged records (S9)', () => {
  for (const [what, bytes, message] of DAMAGES) {
    it(`are an error that names their place: ${what}`, () => {
      const place = /^Topic t, partition 3, offset 4\d: /;
      assert.throws(
        () => readWhole(bytes, AT),
        (error: unknown) => {
          assert.ok(error instanceof RecordFormatError, String(error));
          assert.match(error.message, place);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it('end the looking for the next offset', () => {
    const damaged = changed(three, (b) => b.writeInt32BE(-12, BatchField.length));
    assert.equal(nextOffsetOf(damaged), undefined);
    assert.equal(nextOffsetOf(Buffer.concat([three, damaged])), 43);
    assert.equal(nextOffsetOf(Buffer.concat([three, three])), 43);
  });

  it('are found in the headers before they are read', () => {
    const bytes = batch([record('a', [{ key: 'h', value: Buffer.from('1') }])]);
    const count = FIRST + 7;
    for (const [at, value] of [
      [count, 0xfe],
      [count, 1],
      [count + 1, 0x80],
      [count + 1, 1],
      [count + 3, 0x7e],
    ] as const) {
      const damaged = changed(bytes, (b) => (b[at] = value));
      assert.throws(() => readWhole(damaged, AT), /the length of a record is not that of its fields/);
    }
  });
});
