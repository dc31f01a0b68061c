import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import type { ProducedRecord } from '../../../src/kafka/api.ts';
import { RecordFormatError } from '../../../src/kafka/errors/kafka-errors.ts';
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

/** Restores the checksum, so that only the intended field is wrong. */
function changed(bytes: Buffer, change: (bytes: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return sealed(copy);
}

function sealed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32c(bytes, BatchField.attributes, bytes.length), BatchField.crc);
  return bytes;
}

/** A batch with these compressed records. */
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
    /batch length -12 is smaller than its header/,
  ],
  [
    'a batch length of 0',
    changed(three, (b) => b.writeInt32BE(0, BatchField.length)),
    /batch length 0 is smaller than its header/,
  ],
  [
    'a batch longer than the answer',
    changed(three, (b) => b.writeInt32BE(2 ** 31 - 1, BatchField.length)),
    /no complete batch/,
  ],
  ['-1 records', changed(three, (b) => b.writeInt32BE(-1, BatchField.recordCount)), /the batch has -1 records/],
  [
    'more records than there are',
    changed(three, (b) => b.writeInt32BE(2 ** 31 - 1, BatchField.recordCount)),
    /exceeds its batch/,
  ],
  [
    'fewer records than there are',
    changed(three, (b) => b.writeInt32BE(2, BatchField.recordCount)),
    /longer than its records/,
  ],
  [
    'a last offset before the first',
    changed(three, (b) => b.writeInt32BE(-1, BatchField.lastOffsetDelta)),
    /last offset delta -1/,
  ],
  [
    'a last offset before that of the records',
    changed(three, (b) => b.writeInt32BE(1, BatchField.lastOffsetDelta)),
    /offset of a record/,
  ],
  [
    'an offset that is no number',
    changed(three, (b) => b.writeBigInt64BE(2n ** 62n, 0)),
    /base offset 4611686018427387904/,
  ],
  ['a negative offset', changed(three, (b) => b.writeBigInt64BE(-5n, 0)), /base offset -5/],
  ['an earlier offset than requested', changed(three, (b) => writeInt64(b, 10, 0)), /no complete batch/],
  ['offsets that repeat', changed(three, (b) => (b[SECOND + 3] = 0)), /offset of a record is out of order/],
  ['a negative record length', changed(three, (b) => (b[SECOND] = 3)), /exceeds its batch/],
  ['a record that ends before its fields', changed(three, (b) => (b[SECOND] = 12)), /does not match its fields/],
  [
    'a key of 2^31 bytes',
    packedBatch(Buffer.from('1a000000feffffff0f00', 'hex'), 0),
    /exceeds its batch|does not match its fields/,
  ],
  ['an unterminated varint', changed(three, (b) => b.fill(0xff, FIRST)), /exceeds its batch/],
  [
    'a format older than Kafka 0.11',
    changed(three, (b) => b.writeInt8(1, BatchField.magic)),
    /message format 1 \(before Kafka 0\.11\)/,
  ],
  ['an unknown format', changed(three, (b) => b.writeInt8(77, BatchField.magic)), /unknown message format 77/],
  [
    'a wrong checksum',
    Buffer.from(three).fill(1, BatchField.crc, BatchField.crc + 4),
    /checksum of the batch is wrong/,
  ],
  ['an unknown codec', changed(three, (b) => b.writeInt16BE(7, BatchField.attributes)), /unknown compression type/],
  [
    'invalid gzip data',
    packedBatch(Buffer.from('hello, world'), 1),
    /gzip batch of offsets \d+ to \d+ cannot be decompressed/,
  ],
  [
    'snappy with a block of -4 bytes',
    packedBatch(xerial(-4), 2),
    /snappy batch of offsets \d+ to \d+ cannot be decompressed: a snappy block exceeds/,
  ],
  [
    'snappy of 4 GB',
    packedBatch(Buffer.from('ffffffff0f0000', 'hex'), 2),
    /snappy .*decompressed size exceeds 67108864 bytes/,
  ],
  [
    'gzip of 100 MB',
    packedBatch(zlib.gzipSync(Buffer.alloc(100_000_000)), 1),
    /gzip .*decompressed size exceeds 67108864 bytes/,
  ],
  [
    'lz4 of 100 MB',
    packedBatch(codecFor('lz4', 't').compress(Buffer.alloc(100_000_000)), 3),
    /lz4 .*decompressed size exceeds 67108864 bytes/,
  ],
  ['zstd of 1 GB', packedBatch(zstdBomb(8192), 4), /zstd .*decompressed size exceeds 67108864 bytes/],
  ['two batches in the wrong order', Buffer.concat([three, three]), /the next batch starts at the earlier offset 40/],
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

describe('corrupt records (S9)', () => {
  for (const [what, bytes, message] of DAMAGES) {
    it(`cause an error with their position: ${what}`, () => {
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

  it('end the search for the next offset', () => {
    const damaged = changed(three, (b) => b.writeInt32BE(-12, BatchField.length));
    assert.equal(nextOffsetOf(damaged), undefined);
    assert.equal(nextOffsetOf(Buffer.concat([three, damaged])), 43);
    assert.equal(nextOffsetOf(Buffer.concat([three, three])), 43);
  });

  it('are detected in headers before these are read', () => {
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
      assert.throws(() => readWhole(damaged, AT), /the length of a record does not match its fields/);
    }
  });
});
