import type { BlockText } from '../../data/block-text.ts';
import { MS_PER_DAY } from '../../data/logical-values.ts';
import { hashOf, LONGEST_REPEATED, RepeatedTexts } from '../../data/repeated-texts.ts';
import { LogicalName, type Schema } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import type { SchemaStructs } from '../schema-registry/schema-format.ts';
import { avroCodec, readLong, type AvroCodec } from './avro-codec.ts';
import { avroToConnect, type FromAvro } from './avro-read.ts';
import { nullableMember, type AvroSchema } from './avro-schema.ts';

/** How a field is read; a field of kind `any` is decoded by the library. */
type FieldKind =
  | 'boolean'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'date'
  | 'milliseconds'
  | 'int64'
  | 'timestamp'
  | 'float32'
  | 'float64'
  | 'string'
  | 'enum'
  | 'bytes'
  | 'fixed'
  | 'any';

interface FieldPlan {
  readonly kind: FieldKind;
  /**
   * Index of the member `null` in a union of null and one other type; -1 for other fields and for fields of kind `any`.
   */
  readonly nullMember: number;
  /** Size of a `fixed` in bytes. */
  readonly size: number;
  /** Symbols of an `enum`. */
  readonly symbols: readonly string[];
  /** Converts bytes, and values of fields of kind `any`, to Connect values. */
  readonly toConnect: FromAvro;
  /** Codec of a field of kind `any`. */
  readonly codec: AvroCodec | undefined;
}

/** The value does not have the expected form. */
const UNUSUAL = Symbol('unusual');

const MAX_INT_BYTES = 5;
const MAX_LONG_BYTES = 10;
/** Limit of bits 28 to 55 of a zigzag-encoded long. Below it, the absolute value of the long is at most 2^52. */
const MAX_EXACT_HIGH = 2 ** 25;
const MAX_DATE_MS = 8.64e15;

/**
 * Reads values of one Avro schema from their bytes, and for structs also the bare field values without creating an
 * object. Plain fields are decoded here; the library decodes all others. If a message is unusual, `read` returns
 * `undefined` and `readInto` returns `false`. The caller then decodes the whole message with the library, which reports
 * any error in it.
 */
export class AvroReader implements SchemaStructs {
  readonly schema: Schema;
  /** Readers of the fields of a record, or of the single value. */
  readonly #plans: readonly FieldPlan[];
  readonly #isStruct: boolean;
  readonly #repeated = new RepeatedTexts();
  #bytes: Buffer = NO_BYTES;
  #at = 0;
  #end = 0;

  constructor(avro: AvroSchema, schema: Schema) {
    this.schema = schema;
    this.#isStruct = avro.type === 'record';
    this.#plans =
      avro.type === 'record'
        ? avro.fields.map((field, index) => planOf(field.schema, schema.fields[index]!.schema))
        : [planOf(avro, schema)];
  }

  /** Returns `undefined` if the library must decode the message. */
  read(message: Buffer, from: number, to: number): ConnectValue | undefined {
    const values = new Array<ConnectValue>(this.#plans.length);
    if (!this.readInto(undefined, message, from, to, values)) return undefined;
    for (let index = 0; index < values.length; index++) {
      const value = values[index];
      if (this.#plans[index]!.kind === 'int64' && typeof value === 'number') values[index] = BigInt(value);
    }
    return this.#isStruct ? new Struct(this.schema, values) : values[0];
  }

  readInto(window: BlockText | undefined, bytes: Buffer, from: number, to: number, values: ConnectValue[]): boolean {
    this.#bytes = bytes;
    this.#at = from;
    this.#end = to;
    try {
      for (let index = 0; index < this.#plans.length; index++) {
        const value = this.#field(this.#plans[index]!, window);
        if (value === UNUSUAL) return false;
        values[index] = value;
      }
      return this.#at === to;
    } catch {
      return false;
    } finally {
      this.#bytes = NO_BYTES;
    }
  }

  #field(plan: FieldPlan, window: BlockText | undefined): ConnectValue | typeof UNUSUAL {
    if (plan.nullMember >= 0) {
      // The member index is zigzag-encoded: member 0 is the byte 0, member 1 is the byte 2.
      const member = this.#bytes[this.#at++];
      if (member === plan.nullMember * 2) return null;
      if (member !== 2 - plan.nullMember * 2) return UNUSUAL;
    }
    switch (plan.kind) {
      case 'string':
        return this.#text(window);
      case 'int64':
        return this.#long() ?? UNUSUAL;
      case 'timestamp': {
        const long = this.#long();
        return long === undefined ? UNUSUAL : dateOf(Number(long));
      }
      case 'float64':
        this.#at += 8;
        return this.#at > this.#end ? UNUSUAL : this.#bytes.readDoubleLE(this.#at - 8);
      case 'float32':
        this.#at += 4;
        return this.#at > this.#end ? UNUSUAL : this.#bytes.readFloatLE(this.#at - 4);
      case 'boolean': {
        const byte = this.#bytes[this.#at++]!;
        return byte > 1 ? UNUSUAL : byte === 1;
      }
      case 'bytes':
        return this.#binary(this.#length(), plan.toConnect);
      case 'fixed':
        return this.#binary(plan.size, plan.toConnect);
      case 'any':
        return this.#any(plan);
      default:
        return this.#int(plan);
    }
  }

  #int(plan: FieldPlan): ConnectValue | typeof UNUSUAL {
    const value = this.#varint();
    if (value === undefined) return UNUSUAL;
    switch (plan.kind) {
      case 'date':
        return dateOf(value * MS_PER_DAY);
      case 'milliseconds':
        return dateOf(value);
      case 'int8':
        return (value << 24) >> 24;
      case 'int16':
        return (value << 16) >> 16;
      case 'enum':
        return plan.symbols[value] ?? UNUSUAL;
      default:
        return value;
    }
  }

  /** A zigzag varint of 32 bits, in at most 5 bytes. */
  #varint(): number | undefined {
    const bytes = this.#bytes;
    let raw = 0;
    for (let index = 0; index < MAX_INT_BYTES; index++) {
      const byte = bytes[this.#at++]!;
      // The fifth byte contains only the four highest bits.
      if (index === MAX_INT_BYTES - 1 && byte > 0xf) return undefined;
      raw |= (byte & 0x7f) << (7 * index);
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1);
    }
    return undefined;
  }

  /** A length in bytes; negative if it is invalid or if fewer bytes are left. */
  #length(): number {
    const length = this.#varint() ?? -1;
    return length <= this.#end - this.#at ? length : -1;
  }

  /** A zigzag varint of 64 bits, as a number if that is exact. */
  #long(): number | bigint | undefined {
    const bytes = this.#bytes;
    const start = this.#at;
    let low = 0;
    let at = start;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++]!;
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.#at = at;
        return (low >>> 1) ^ -(low & 1);
      }
    }
    let high = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = bytes[at++]!;
      high |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (high >= MAX_EXACT_HIGH) break;
      this.#at = at;
      const half = high * 0x8000000 + (low >>> 1);
      return (low & 1) === 0 ? half : -half - 1;
    }
    return this.#wideLong(start);
  }

  #wideLong(start: number): bigint | undefined {
    let at = start;
    while (at < this.#end && this.#bytes[at]! >= 0x80) at++;
    if (at >= this.#end || at - start >= MAX_LONG_BYTES) return undefined;
    this.#at = at + 1;
    return readLong(this.#bytes.subarray(start, at + 1));
  }

  #text(window: BlockText | undefined): string | typeof UNUSUAL {
    const length = this.#length();
    if (length < 0) return UNUSUAL;
    const bytes = this.#bytes;
    const start = this.#at;
    const end = (this.#at = start + length);
    if (length > LONGEST_REPEATED) return bytes.toString('utf8', start, end);
    let hash = 0;
    let bits = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      bits |= byte;
      hash = hashOf(hash, byte);
    }
    if (bits >= 0x80) return bytes.toString('utf8', start, end);
    if (window === undefined) return bytes.toString('latin1', start, end);
    return this.#repeated.of(window.text, start - window.base, end - window.base, hash);
  }

  #binary(length: number, toConnect: FromAvro): ConnectValue | typeof UNUSUAL {
    const start = this.#at;
    if (length < 0 || length > this.#end - start) return UNUSUAL;
    this.#at = start + length;
    return toConnect(this.#bytes.subarray(start, start + length));
  }

  #any({ codec, toConnect }: FieldPlan): ConnectValue {
    const { value, end } = codec!.decodePart(this.#bytes.subarray(0, this.#end), this.#at);
    this.#at = end;
    return toConnect(value);
  }
}

const NO_BYTES = Buffer.alloc(0);

function dateOf(milliseconds: number): Date | typeof UNUSUAL {
  return Math.abs(milliseconds) <= MAX_DATE_MS ? new Date(milliseconds) : UNUSUAL;
}

function planOf(avro: AvroSchema, schema: Schema): FieldPlan {
  const nullable = avro.type === 'union' ? nullableMember(avro) : undefined;
  const plain = nullable ?? avro;
  const kind = kindOf(plain, schema);
  const plan = {
    kind,
    nullMember: -1,
    size: plain.type === 'fixed' ? plain.size : 0,
    symbols: plain.type === 'enum' ? plain.symbols : [],
  };
  if (kind === 'any') return { ...plan, toConnect: avroToConnect(avro, schema), codec: avroCodec(avro) };
  const nullMember = avro.type === 'union' && nullable !== undefined ? avro.branches.indexOf(nullable) ^ 1 : -1;
  return { ...plan, nullMember, toConnect: avroToConnect(plain, schema), codec: undefined };
}

function kindOf(avro: AvroSchema, schema: Schema): FieldKind {
  switch (avro.type) {
    case 'boolean':
    case 'string':
    case 'enum':
    case 'bytes':
    case 'fixed':
      return avro.type;
    case 'float':
      return 'float32';
    case 'double':
      return 'float64';
    case 'int':
      return intKind(schema);
    case 'long':
      return schema.name === LogicalName.timestamp ? 'timestamp' : 'int64';
    default:
      return 'any';
  }
}

function intKind({ name, type }: Schema): FieldKind {
  if (name === LogicalName.date) return 'date';
  if (name === LogicalName.time) return 'milliseconds';
  return type === 'int8' || type === 'int16' ? type : 'int32';
}
