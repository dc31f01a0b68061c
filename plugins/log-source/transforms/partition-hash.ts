import {
  DataError,
  Decimal,
  javaStringHash,
  Struct,
  TypedNumber,
  type ConnectValue,
  type Schema,
} from '../../../src/index.ts';

/** A hash of 32 bits, signed, by which PartitionRouting chooses the partition. */
export type PartitionHash = (value: Present, schema: Schema) => number;

type Present = Exclude<ConnectValue, null>;

/** `hashCode` of the Java object that represents the value in Kafka Connect. */
export const javaHash: PartitionHash = (value, schema) => {
  switch (typeof value) {
    case 'string':
      return javaStringHash(value);
    case 'boolean':
      return value ? 1231 : 1237;
    case 'bigint':
      return longHash(value);
    case 'number':
      return numberHash(value, schema);
    default:
      return objectHash(value, schema);
  }
};

function objectHash(value: Exclude<Present, string | boolean | bigint | number>, schema: Schema): number {
  if (value instanceof TypedNumber) return numberHash(value.value, schema);
  if (value instanceof Date) return longHash(BigInt(value.getTime()));
  if (value instanceof Decimal) return decimalHash(value);
  if (value instanceof Uint8Array) {
    return value.reduceRight((hash, byte) => (Math.imul(31, hash) + ((byte << 24) >> 24)) | 0, 1);
  }
  if (Array.isArray(value)) {
    const items = value as readonly ConnectValue[];
    return items.reduce<number>((hash, item) => (Math.imul(31, hash) + partHash(item, schema.valueSchema)) | 0, 1);
  }
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<ConnectValue, ConnectValue>)];
    const hashes = entries.map(([key, item]) => partHash(key, schema.keySchema) ^ partHash(item, schema.valueSchema));
    return hashes.reduce((sum, hash) => (sum + hash) | 0, 0);
  }
  throw new DataError(`A ${value instanceof Struct ? 'struct' : 'value of this type'} has no partition hash`);
}

function partHash(value: ConnectValue, schema: Schema | undefined): number {
  if (value === null || schema === undefined) return 0;
  return javaHash(value, schema);
}

function longHash(value: bigint): number {
  return Number(BigInt.asIntN(32, value ^ (value >> 32n)));
}

const BITS = new DataView(new ArrayBuffer(8));

function numberHash(value: number, { type }: Schema): number {
  if (type === 'int64') return longHash(BigInt(value));
  if (type === 'float32') {
    BITS.setFloat32(0, value);
    return BITS.getInt32(0);
  }
  if (type !== 'float64') return value | 0;
  BITS.setFloat64(0, value);
  return BITS.getInt32(0) ^ BITS.getInt32(4);
}

function decimalHash({ unscaled, scale }: Decimal): number {
  const size = unscaled < 0n ? -unscaled : unscaled;
  const words: number[] = [];
  for (let rest = size; rest > 0n; rest >>= 32n) words.unshift(Number(BigInt.asIntN(32, rest)));
  const hash = words.reduce((sum, word) => (Math.imul(31, sum) + word) | 0, 0);
  return (Math.imul(31, unscaled < 0n ? -hash : hash) + scale) | 0;
}

const SEED = 9001n;
const MASK = (1n << 64n) - 1n;

/** The upper 32 bits of MurmurHash3 in Infinispan's variant for x64, which Debezium uses. For a value that is not a text, its Java hash is hashed. */
export const murmurHash: PartitionHash = (value, schema) => {
  if (typeof value === 'string') return murmur(Buffer.from(value.replace(/\p{Surrogate}/gu, '?')));
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(javaHash(value, schema));
  return murmur(bytes);
};

function murmur(bytes: Buffer): number {
  const state = {
    h1: 0x9368e53c2f6af274n ^ SEED,
    h2: 0x586dcd208f7cd3fdn ^ SEED,
    c1: 0x87c37b91114253d5n,
    c2: 0x4cf5ad432745937fn,
  };
  const blocks = bytes.length >>> 4;
  for (let block = 0; block < blocks; block++) {
    mix(state, bytes.readBigUInt64LE(block * 16), bytes.readBigUInt64LE(block * 16 + 8));
  }
  const tail = bytes.subarray(blocks * 16);
  if (tail.length > 0) mix(state, tailBlock(tail.subarray(0, 8)), tailBlock(tail.subarray(8)));
  let { h1, h2 } = state;
  h2 ^= BigInt(bytes.length);
  h1 = (h1 + h2) & MASK;
  h2 = (h2 + h1) & MASK;
  h1 = finished(h1);
  h2 = finished(h2);
  return Number(BigInt.asIntN(32, ((h1 + h2) & MASK) >> 32n));
}

/** Reads the last, incomplete block. As in Infinispan, its bytes are signed. */
function tailBlock(bytes: Buffer): bigint {
  let block = 0n;
  for (let index = 0; index < bytes.length; index++) {
    block ^= BigInt.asUintN(64, BigInt(bytes.readInt8(index)) << BigInt(8 * index));
  }
  return block;
}

interface MurmurState {
  h1: bigint;
  h2: bigint;
  c1: bigint;
  c2: bigint;
}

function mix(state: MurmurState, first: bigint, second: bigint): void {
  const { c1, c2 } = state;
  const k1 = (rotated((first * c1) & MASK, 23n) * c2) & MASK;
  const k2 = (rotated((second * c2) & MASK, 23n) * c1) & MASK;
  const h1 = ((state.h1 ^ k1) + state.h2) & MASK;
  const h2 = ((rotated(state.h2, 41n) ^ k2) + h1) & MASK;
  state.h1 = (h1 * 3n + 0x52dce729n) & MASK;
  state.h2 = (h2 * 3n + 0x38495ab5n) & MASK;
  state.c1 = (c1 * 5n + 0x7b7d159cn) & MASK;
  state.c2 = (c2 * 5n + 0x6bce6396n) & MASK;
}

function rotated(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & MASK;
}

function finished(value: bigint): bigint {
  let hash = value ^ (value >> 33n);
  hash = (hash * 0xff51afd7ed558ccdn) & MASK;
  hash ^= hash >> 33n;
  hash = (hash * 0xc4ceb9fe1a85ec53n) & MASK;
  return hash ^ (hash >> 33n);
}
