import { DataError, toError } from '../../errors.ts';
import { loadOptional } from '../schema-registry/optional-package.ts';
import type { AvroSchema } from './avro-schema.ts';

type Avsc = typeof import('avsc');
type AvscType = import('avsc').Type;

/**
 * Encodes and decodes values of one Avro schema, in the representation of the avsc library: a record is an object with one
 * property per field; a value of a union is null or an object whose only property is named after the member; a long is a
 * bigint; a map is an object.
 */
export interface AvroCodec {
  /** Throws a DataError if the bytes from `from` to `to` are not exactly one value of the schema. */
  decode(message: Buffer, from: number, to: number): unknown;
  /** Decodes a value that other bytes may follow; `end` is the position after the value. */
  decodePart(message: Buffer, from: number): { readonly value: unknown; readonly end: number };
  /** Returns the prefix followed by the encoded value. Throws a DataError if the value does not match the schema. */
  encode(value: unknown, prefix: Buffer): Buffer;
}

let library: Avsc | undefined;
let longType: AvscType | undefined;
let boundedTypesMade: ReturnType<typeof boundedTypes> | undefined;

/** Loads the optional package when the first converter needs it. */
export function loadAvro(): Avsc {
  return (library ??= loadOptional('avsc', 'AvroConverter') as Avsc);
}

export function avroCodec(schema: AvroSchema): AvroCodec {
  const { Type } = loadAvro();
  longType ??= exactLong();
  const bounded = (boundedTypesMade ??= boundedTypes());
  const type = Type.forSchema(new CodecSchema().of(schema) as Parameters<Avsc['Type']['forSchema']>[0], {
    registry: { long: longType },
    wrapUnions: 'always',
    logicalTypes: {},
    typeHook: (each, options) => {
      if (isOf('array', each)) return new bounded.array(each, options);
      return isOf('map', each) ? new bounded.map(each, options) : undefined;
    },
    noAnonymousTypes: false,
  });
  return new TypeCodec(type);
}

const SCRATCH_BYTES = 1024;

class TypeCodec implements AvroCodec {
  readonly #type: AvscType;
  /**
   * Values are written here first because their length is unknown in advance. The buffer grows with the largest value.
   */
  #scratch = Buffer.allocUnsafe(SCRATCH_BYTES);

  constructor(type: AvscType) {
    this.#type = type;
  }

  decode(message: Buffer, from: number, to: number): unknown {
    const { value, end } = this.decodePart(to === message.length ? message : message.subarray(0, to), from);
    if (end !== to) throw new DataError(`${String(to - end)} bytes are left after the value`);
    return value;
  }

  decodePart(message: Buffer, from: number): { value: unknown; end: number } {
    let read: { value: unknown; offset: number };
    try {
      read = this.#type.decode(message, from);
    } catch (error) {
      throw new DataError(`The bytes do not fit the schema: ${toError(error).message}`, { cause: error });
    }
    if (read.offset < 0) throw new DataError('The bytes end before the value does');
    return { value: read.value, end: read.offset };
  }

  encode(value: unknown, prefix: Buffer): Buffer {
    let end = this.#encodeAt(value, prefix.length);
    if (end < 0) {
      this.#scratch = Buffer.allocUnsafe(2 * (this.#scratch.length - end));
      end = this.#encodeAt(value, prefix.length);
    }
    const message = Buffer.allocUnsafe(end);
    this.#scratch.copy(message, prefix.length, prefix.length, end);
    prefix.copy(message);
    return message;
  }

  #encodeAt(value: unknown, at: number): number {
    try {
      return this.#type.encode(value, this.#scratch, at);
    } catch (error) {
      throw new DataError(`The value does not fit the Avro schema: ${toError(error).message}`, { cause: error });
    }
  }
}

/** Translates a schema for the library: with full names, and without defaults and logical types. */
class CodecSchema {
  readonly #defined = new Set<string>();

  of(schema: AvroSchema): unknown {
    switch (schema.type) {
      case 'array':
        return { type: 'array', items: this.of(schema.items) };
      case 'map':
        return { type: 'map', values: this.of(schema.values) };
      case 'union':
        return schema.branches.map((branch) => this.of(branch));
      case 'record':
      case 'enum':
      case 'fixed':
        return this.#named(schema);
      default:
        return schema.type;
    }
  }

  #named(schema: Extract<AvroSchema, { type: 'record' | 'enum' | 'fixed' }>): unknown {
    const { type, fullName: name } = schema;
    if (this.#defined.has(name)) return name;
    this.#defined.add(name);
    if (type === 'enum') return { type, name, symbols: schema.symbols };
    if (type === 'fixed') return { type, name, size: schema.size };
    return { type, name, fields: schema.fields.map((field) => ({ name: field.name, type: this.of(field.schema) })) };
  }
}

interface Tap {
  readonly pos: number;
  readonly buf: Buffer;
  readLong(): number;
  readString(): string;
  skipLong(): void;
}

interface Part {
  _read(tap: Tap): unknown;
}

/**
 * A block may contain this many values even if fewer bytes are left, because values such as null have no bytes. A
 * higher count means that the data is corrupt or malicious.
 */
const MAX_EMPTY_VALUES = 1_000_000;

/** Calls `read` for each value of an array or map. Throws a DataError if a block has more values than the bytes can contain. */
function readBlocks(tap: Tap, read: () => void): void {
  for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
    // A negative count is followed by the size of the block.
    if (count < 0) tap.skipLong();
    const most = Math.max(tap.buf.length - tap.pos, MAX_EMPTY_VALUES);
    if (Math.abs(count) > most)
      throw new DataError(`the remaining bytes cannot contain ${String(Math.abs(count))} values`);
    for (let left = Math.abs(count); left > 0; left--) {
      read();
      if (tap.pos > tap.buf.length) throw new DataError('the bytes end before the value does');
    }
  }
}

/**
 * Array and map types that check the counts of their blocks. With a corrupt count, the library's types would read past the
 * end of the bytes for hours. The map type also keeps an entry with the key `__proto__`, which the library loses.
 */
function boundedTypes() {
  const { ArrayType, MapType } = loadAvro().types;
  class BoundedArrayType extends ArrayType {
    _read(tap: Tap): unknown {
      const items = this.itemsType as unknown as Part;
      const list: unknown[] = [];
      readBlocks(tap, () => list.push(items._read(tap)));
      return list;
    }
  }
  class BoundedMapType extends MapType {
    _read(tap: Tap): unknown {
      const values = this.valuesType as Part;
      const map = Object.create(null) as Record<string, unknown>;
      readBlocks(tap, () => {
        const key = tap.readString();
        map[key] = values._read(tap);
      });
      return map;
    }
  }
  return { array: BoundedArrayType, map: BoundedMapType };
}

function isOf(type: string, schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === type;
}

/** Longs are bigints because a number is not exact beyond 2^53. */
function exactLong(): AvscType {
  const { types } = loadAvro();
  const methods = {
    fromBuffer: readLong,
    toBuffer: writeLong,
    fromJSON: BigInt,
    toJSON: Number,
    isValid: (value: unknown) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value,
    compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
  };
  return types.LongType.__with(methods, true);
}

/**
 * Reads a zigzag varint: seven bits per byte, the lowest first. Up to six bytes (42 bits) fit into a number exactly, which
 * is faster than a bigint.
 * @internal
 */
export function readLong(bytes: Buffer): bigint {
  if (bytes.length <= 6) {
    let value = 0;
    let factor = 1;
    for (const byte of bytes) {
      value += (byte & 0x7f) * factor;
      factor *= 128;
    }
    return BigInt(value % 2 === 0 ? value / 2 : -(value + 1) / 2);
  }
  let value = 0n;
  for (let index = bytes.length - 1; index >= 0; index--) value = (value << 7n) | BigInt((bytes[index] ?? 0) & 0x7f);
  return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
}

const MAX_LONG_BYTES = 10;
const SMALL = 2n ** 40n;

/** @internal */
export function writeLong(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(MAX_LONG_BYTES);
  let length = 0;
  if (value < SMALL && value >= -SMALL) {
    const number = Number(value);
    let rest = number < 0 ? -2 * number - 1 : 2 * number;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes[length++] = (rest % 128) | 0x80;
    bytes[length++] = rest;
  } else {
    let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
    for (; rest > 0x7fn; rest >>= 7n) bytes[length++] = Number(rest & 0x7fn) | 0x80;
    bytes[length++] = Number(rest);
  }
  return bytes.subarray(0, length);
}
