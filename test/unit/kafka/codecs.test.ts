import assert from 'node:assert/strict';
import zlib from 'node:zlib';
import { codecFor, requireWritable } from '../../../src/kafka/records/codecs.ts';
import { ConfigError } from '../../../src/errors.ts';
import { CodecError } from '../../../src/kafka/errors/kafka-errors.ts';
import { splitXerial } from '../../../src/kafka/records/xerial.ts';

const JAVA_FRAME_BLOCK = '61207265636f7264206f6620612062617463682c20010005c07f3201';
const text = Buffer.from('the quick brown fox '.repeat(5000));

describe('codecs', () => {
  for (const type of ['gzip', 'snappy', 'lz4'] as const) {
    it(`${type} reads what it wrote`, () => {
      const codec = codecFor(type, 't');
      const packed = codec.compress(text);
      assert.ok(packed.length < text.length / 5);
      assert.ok(codec.decompress(packed, 1_000_000).equals(text));
    });
  }

  it('zstd reads frames', () => {
    // A frame of one raw block: magic, single segment with one byte of size, last block of 5 bytes.
    const frame = Buffer.concat([Buffer.from('28b52ffd2005290000', 'hex'), Buffer.from('hello')]);
    assert.equal(
      codecFor('zstd', 't')
        .decompress(frame, 128 * 1024)
        .toString(),
      'hello',
    );
  });

  it('zstd reads data of Java at any level, regardless of the declared window', () => {
    // Apache Kafka's library at levels 3, 19, 20 and 22: windows of 2, 8, 32 and 128 MiB for 1,050 bytes.
    for (const window of ['58', '68', '78', '88']) {
      const frame = Buffer.from(`28b52ffd00${window}ed0000a8${JAVA_FRAME_BLOCK}`, 'hex');
      const plain = codecFor('zstd', 't').decompress(frame, 64 * 1024 * 1024);
      assert.equal(plain.toString(), 'a record of a batch, '.repeat(50));
    }
  });

  it('zstd compresses if Node supports it, and otherwise reports the required version', () => {
    if ('zstdCompressSync' in zlib) requireWritable('zstd');
    else {
      assert.throws(
        () => requireWritable('zstd'),
        (error: unknown) => {
          assert.ok(error instanceof ConfigError);
          assert.match(error.message, /compression\.type: compression with zstd requires Node 22\.15/);
          return true;
        },
      );
    }
  });

  const missing = (): never => {
    throw new Error("Cannot find module 'lz4-napi'");
  };
  const loaders = { gzip: missing, snappy: missing, lz4: missing, zstd: missing };

  it('a producer that cannot load the package of its compression type names the option and the package', () => {
    assert.throws(() => requireWritable('lz4', loaders), {
      name: 'ConfigError',
      message:
        'Invalid value lz4 for configuration compression.type: the optional package "lz4-napi" could not be loaded: ' +
        "Cannot find module 'lz4-napi'",
    });
  });

  it('the error for a missing package names the package and the topic', () => {
    assert.throws(
      () => codecFor('lz4', 'orders', loaders),
      (error: unknown) => {
        assert.ok(error instanceof CodecError);
        assert.equal(
          error.message,
          'Topic orders has batches compressed with lz4, and the optional package "lz4-napi" that reads them could not be ' +
            "loaded: Cannot find module 'lz4-napi'",
        );
        return true;
      },
    );
  });

  it('snappy is read with Java’s framing, as concatenated streams, and without framing', () => {
    const codec = codecFor('snappy', 't');
    const twice = Buffer.concat([codec.compress(Buffer.from('one ')), codec.compress(Buffer.from('two'))]);
    assert.equal(codec.decompress(twice, 7).toString(), 'one two');
    const blocks: string[] = [];
    const keep = (block: Buffer): Buffer => {
      blocks.push(block.toString());
      return block;
    };
    splitXerial(Buffer.from('plain block'), keep, 100);
    assert.deepEqual(blocks, ['plain block']);
  });
});
