import { createRequire } from 'node:module';
import zlib from 'node:zlib';
import { ConfigError, toError } from '../../errors.ts';
import { CodecError } from '../errors/kafka-errors.ts';
import { unpackedLz4Size } from './lz4-size.ts';
import { tooLarge } from './unpacked-limit.ts';
import { joinXerial, splitXerial } from './xerial.ts';
import { limitedZstd } from './zstd-size.ts';

/** Values of `compression.type`; the index is the codec's number in the batch attributes. */
export const COMPRESSION_TYPES = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type CompressionType = (typeof COMPRESSION_TYPES)[number];

export type PackedType = Exclude<CompressionType, 'none'>;

export interface Codec {
  compress(plain: Buffer): Buffer;
  /** Throws instead of allocating more than `maxBytes`. */
  decompress(packed: Buffer, maxBytes: number): Buffer;
}

const load = createRequire(import.meta.url);
const loaded = new Map<CompressionType, Codec>();

/**
 * Loads the codec on first use. Throws a CodecError that names the topic and the package if the package is not installed. Some
 * packages are optional, because they have native parts that are not available on all platforms.
 */
export function codecFor(type: PackedType, topic: string, loaders: CodecLoaders = LOADERS): Codec {
  try {
    return loadedCodec(type, loaders);
  } catch (error) {
    if (error instanceof CodecError) throw error;
    throw new CodecError(
      `Topic ${topic} has batches compressed with ${type}, and the optional package "${PACKAGES[type]}" that reads ` +
        `them could not be loaded: ${toError(error).message}`,
      { cause: error },
    );
  }
}

function loadedCodec(type: PackedType, loaders: CodecLoaders): Codec {
  const known = loaders === LOADERS ? loaded.get(type) : undefined;
  if (known !== undefined) return known;
  const codec = loaders[type]();
  if (loaders === LOADERS) loaded.set(type, codec);
  return codec;
}

/** The compression type is in the low three bits of the batch attributes. */
export function compressionOf(attributes: number): CompressionType | undefined {
  return COMPRESSION_TYPES[attributes & 0x07];
}

/** Throws ConfigError if this installation cannot compress with the configured type. */
export function requireWritable(type: CompressionType, loaders: CodecLoaders = LOADERS): void {
  if (type === 'none') return;
  const invalid = `Invalid value ${type} for configuration compression.type`;
  let codec: Codec;
  try {
    codec = loadedCodec(type, loaders);
  } catch (error) {
    const problem = `the optional package "${PACKAGES[type]}" could not be loaded`;
    throw new ConfigError(`${invalid}: ${problem}: ${toError(error).message}`, { cause: error });
  }
  try {
    codec.compress(Buffer.from('x'));
  } catch (error) {
    throw new ConfigError(`${invalid}: ${toError(error).message}`, { cause: error });
  }
}

export type CodecLoaders = Readonly<Record<PackedType, () => Codec>>;

const PACKAGES = { gzip: 'node:zlib', snappy: 'snappy', lz4: 'lz4-napi', zstd: 'fzstd' } as const;

const LOADERS: CodecLoaders = {
  gzip: () => ({
    compress: (plain) => zlib.gzipSync(plain),
    decompress: (packed, maxOutputLength) =>
      limited(maxOutputLength, () => zlib.gunzipSync(packed, { maxOutputLength })),
  }),
  snappy: () => {
    const snappy = load('snappy') as typeof import('snappy');
    const decompressBlock = (block: Buffer, maxBytes: number): Buffer => {
      if (announcedSnappySize(block) > maxBytes) throw tooLarge(maxBytes);
      return Buffer.from(snappy.uncompressSync(block, { asBuffer: true }));
    };
    return {
      // Java consumers accept both framings; librdkafka and others write a plain block.
      compress: (plain) => joinXerial(plain, (block) => snappy.compressSync(block)),
      decompress: (packed, maxBytes) => splitXerial(packed, decompressBlock, maxBytes),
    };
  },
  lz4: () => {
    const lz4 = load('lz4-napi') as typeof import('lz4-napi');
    return {
      compress: (plain) => lz4.compressFrameSync(plain),
      decompress: (packed, maxBytes) => {
        if (unpackedLz4Size(packed) > maxBytes) throw tooLarge(maxBytes);
        return lz4.decompressFrameSync(packed);
      },
    };
  },
  zstd: zstdCodec,
};

/** The zlib of Node 22.15 and later. */
interface ZlibWithZstd {
  readonly zstdCompressSync?: (plain: Buffer) => Buffer;
  readonly zstdDecompressSync?: (packed: Buffer, options: { maxOutputLength: number }) => Buffer;
}

function zstdCodec(): Codec {
  const { zstdCompressSync, zstdDecompressSync } = zlib as ZlibWithZstd;
  if (zstdCompressSync !== undefined && zstdDecompressSync !== undefined) {
    return {
      compress: (plain) => zstdCompressSync(plain),
      decompress: (packed, maxOutputLength) =>
        limited(maxOutputLength, () => zstdDecompressSync(packed, { maxOutputLength })),
    };
  }
  const fzstd = load('fzstd') as typeof import('fzstd');
  return {
    compress: () => {
      throw new CodecError('compression with zstd requires Node 22.15 or later');
    },
    decompress: (packed, maxBytes) => {
      const plain = fzstd.decompress(limitedZstd(packed, maxBytes));
      return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
    },
  };
}

/** Calls `unpack` and replaces zlib's error about its size limit. */
function limited(maxBytes: number, unpack: () => Buffer): Buffer {
  try {
    return unpack();
  } catch (error) {
    throw (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : error;
  }
}

/** Reads the size at the start of a snappy block. The library would allocate it without a check. */
function announcedSnappySize(block: Buffer): number {
  let size = 0;
  for (let index = 0, scale = 1; index < 5; index++, scale *= 128) {
    const byte = block[index] ?? 0;
    size += (byte & 0x7f) * scale;
    if (byte < 0x80) break;
  }
  return size;
}
