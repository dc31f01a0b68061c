import { decimalFromBytes, MS_PER_DAY } from '../../data/logical-values.ts';
import type { Schema } from '../../data/schema.ts';
import { Decimal, Struct, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { loadProtobuf, type EnumType, type MessageField, type MessageType } from './protobuf-files.ts';
import {
  fullNameOf,
  isMessage,
  isOptional,
  mapParts,
  plainFields,
  realOneofs,
  resolvedType,
} from './protobuf-fields.ts';
import { Message, type ProtobufSettings } from './protobuf-names.ts';
import { oneofFieldName, wrappedType } from './protobuf-to-connect.ts';
import { readBigInt, scalarReader, type ReadScalar } from './protobuf-scalars.ts';
import { lookupTable } from '../../data/lookup-table.ts';

type Reader = import('protobufjs').Reader;

/** Reads the value after a field's tag. */
type ReadContent = (reader: Reader) => ConnectValue;

/** Reads one occurrence of a field and stores it in the values of a struct. */
type Take = (reader: Reader, wireType: number, values: ConnectValue[]) => void;

const LENGTH_DELIMITED = 2;

/** Reads messages of one type directly into structs of the Connect schema that was derived from the type. */
export class MessageReader {
  readonly #schema: Schema;
  readonly #settings: ProtobufSettings;
  /** The readers of fields by field number. */
  readonly #takes = new Map<number, Take>();
  /**
   * Values of missing fields, by index. Arrays, maps and structs are created by a function, so that records do not
   * share them.
   */
  readonly #absent: (ConnectValue | (() => ConnectValue))[];

  constructor(message: MessageType, schema: Schema, settings: ProtobufSettings) {
    this.#schema = schema;
    this.#settings = settings;
    this.#absent = new Array<ConnectValue>(schema.fields.length).fill(null);
    for (const [index, oneof] of realOneofs(message).entries()) {
      if (settings.flattenUnions) for (const field of oneof.fields) this.#add(field, field.name);
      else this.#addOneof(oneof.fields, oneofFieldName(oneof, index, settings));
    }
    for (const field of plainFields(message)) {
      const slot = this.#add(field, field.name);
      this.#absent[slot] = this.#absentValue(field, slot);
    }
  }

  /** Reads a message that ends at position `end`. */
  read(reader: Reader, end: number): Struct {
    const values = new Array<ConnectValue>(this.#absent.length).fill(null);
    while (reader.pos < end) {
      const tag = reader.uint32();
      const take = this.#takes.get(tag >>> 3);
      if (take === undefined) reader.skipType(tag & 7);
      else take(reader, tag & 7, values);
    }
    for (let slot = 0; slot < values.length; slot++) {
      if (values[slot] !== null) continue;
      const absent = this.#absent[slot] ?? null;
      values[slot] = typeof absent === 'function' ? absent() : absent;
    }
    return new Struct(this.#schema, values);
  }

  #add(field: MessageField, name: string): number {
    const slot = this.#schema.field(name)?.index ?? -1;
    const fieldSchema = this.#schema.fields[slot]?.schema;
    if (fieldSchema === undefined) throw new DataError(`The Connect schema has no field ${name}`);
    this.#takes.set(field.id, this.#taker(field, slot, fieldSchema));
    return slot;
  }

  #addOneof(fields: readonly MessageField[], name: string): void {
    const slot = this.#schema.field(name)?.index ?? -1;
    const union = this.#schema.fields[slot]?.schema;
    if (union === undefined) throw new DataError(`The Connect schema has no field ${name}`);
    for (const [index, field] of fields.entries()) {
      const memberSchema = union.fields[index]?.schema;
      if (memberSchema === undefined) continue;
      const read = this.#content(field, memberSchema);
      this.#takes.set(field.id, (reader, _wireType, values) => {
        const struct = new Struct(union);
        struct.values[index] = read(reader);
        values[slot] = struct;
      });
    }
  }

  #taker(field: MessageField, slot: number, schema: Schema): Take {
    const map = mapParts(field);
    if (map !== undefined) return this.#mapTaker(map, slot, schema);
    if (!field.repeated) {
      const read = this.#content(field, schema);
      return (reader, _wireType, values) => {
        values[slot] = read(reader);
      };
    }
    const read = this.#content(field, schema.valueSchema ?? schema);
    const isPackable = Object.hasOwn(loadProtobuf().types.packed, field.type) || isEnum(field);
    return (reader, wireType, values) => {
      const list = (values[slot] ??= []) as ConnectValue[];
      if (!isPackable || wireType !== LENGTH_DELIMITED) {
        list.push(read(reader));
        return;
      }
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) list.push(read(reader));
    };
  }

  #mapTaker({ key, value }: NonNullable<ReturnType<typeof mapParts>>, slot: number, schema: Schema): Take {
    const { keySchema, valueSchema } = schema;
    if (keySchema === undefined || valueSchema === undefined) throw new DataError('A map has no schema for its parts');
    const readKey = typeof key === 'string' ? scalarReader(key, keySchema) : this.#content(key, keySchema);
    const readValue = this.#content(value, valueSchema);
    // A default is only computed for an entry without the key or value, because it fails for a type such as Date.
    const absentKey = () => (typeof key === 'string' ? defaultOf(key) : this.#absentContent(key, keySchema));
    const absentValue = () => this.#absentContent(value, valueSchema);
    return (reader, _wireType, values) => {
      const map = (values[slot] ??= new Map()) as Map<ConnectValue, ConnectValue>;
      const end = reader.uint32() + reader.pos;
      let entryKey: ConnectValue | undefined;
      let entryValue: ConnectValue | undefined;
      while (reader.pos < end) {
        const tag = reader.uint32();
        if (tag >>> 3 === 1) entryKey = readKey(reader);
        else if (tag >>> 3 === 2) entryValue = readValue(reader);
        else reader.skipType(tag & 7);
      }
      map.set(entryKey ?? absentKey(), entryValue ?? absentValue());
    };
  }

  #content(field: MessageField, schema: Schema): ReadContent {
    const type = resolvedType(field);
    if (type === undefined) return scalarReader(field.type, schema);
    return isMessage(type) ? this.#message(type, schema) : enumReader(type, this.#settings);
  }

  #message(type: MessageType, schema: Schema): ReadContent {
    const special = SPECIAL[fullNameOf(type)];
    if (special !== undefined) return (reader) => special(reader, reader.uint32() + reader.pos);
    const wrapped = this.#settings.wrapperForNullables ? wrappedType(type) : undefined;
    if (wrapped !== undefined) return (reader) => readWrapped(reader, reader.uint32() + reader.pos, wrapped, schema);
    const inner = new MessageReader(type, schema, this.#settings);
    return (reader) => inner.read(reader, reader.uint32() + reader.pos);
  }

  #absentValue(field: MessageField, slot: number): ConnectValue | (() => ConnectValue) {
    const schema = this.#schema.fields[slot]?.schema;
    if (mapParts(field) !== undefined) return () => new Map();
    if (field.repeated) return () => [];
    if (schema === undefined || isOptional(field, this.#settings)) return null;
    const isOfMessage = isMessage(resolvedType(field));
    if (!isOfMessage) return this.#absentContent(field, schema);
    return this.#settings.structForNulls ? () => this.#absentContent(field, schema) : null;
  }

  #absentContent(field: MessageField, schema: Schema): ConnectValue {
    const type = resolvedType(field);
    if (type === undefined) return narrowed(field.type, field.typeDefault);
    if (!isMessage(type)) return enumDefault(type, field, this.#settings);
    const empty = loadProtobuf().Reader.create(Buffer.of(0));
    return this.#message(type, schema)(empty);
  }
}

/** Reads the value in a message of google/protobuf/wrappers.proto. */
export function readWrapped(reader: Reader, end: number, type: string, schema: Schema): ConnectValue {
  const read = scalarReader(type, schema);
  let value = defaultOf(type);
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) value = read(reader);
    else reader.skipType(tag & 7);
  }
  return value;
}

function defaultOf(type: string): ConnectValue {
  return narrowed(type, (loadProtobuf().types.defaults as Readonly<Record<string, unknown>>)[type]);
}

/** Converts the library's default of a type to a Connect value. */
function narrowed(type: string, value: unknown): ConnectValue {
  if (type === 'bytes') return typeof value === 'string' ? Buffer.from(value, 'latin1') : Buffer.alloc(0);
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  const isWide = /64$|^(uint32|fixed32)$/.test(type);
  if (isWide) return typeof value === 'number' ? BigInt(value) : BigInt(`${(value ?? 0) as bigint | number}`);
  return Number(value ?? 0);
}

function isEnum(field: MessageField): boolean {
  const type = resolvedType(field);
  return type !== undefined && !isMessage(type);
}

function enumReader(type: EnumType, { intForEnums }: ProtobufSettings): ReadContent {
  if (intForEnums) return (reader) => reader.int32();
  return (reader) => {
    const number = reader.int32();
    return type.valuesById[number] ?? `UNKNOWN_ENUM_VALUE_${type.name}_${String(number)}`;
  };
}

function enumDefault(type: EnumType, field: MessageField, { intForEnums }: ProtobufSettings): ConnectValue {
  const [first] = Object.values(type.values);
  const number = typeof field.typeDefault === 'number' ? field.typeDefault : (first ?? 0);
  return intForEnums ? number : (type.valuesById[number] ?? String(number));
}

/** Reads a small message: the first function reads field 1, the second one field 2, and so on. A missing field is 0. */
function readMembers(reader: Reader, end: number, ...reads: readonly ReadScalar[]): ConnectValue[] {
  const members = new Array<ConnectValue>(reads.length).fill(0);
  while (reader.pos < end) {
    const tag = reader.uint32();
    const read = reads[(tag >>> 3) - 1];
    if (read === undefined) reader.skipType(tag & 7);
    else members[(tag >>> 3) - 1] = read(reader);
  }
  return members;
}

const readInt: ReadScalar = (reader) => reader.int32();

const SPECIAL: Readonly<Record<string, (reader: Reader, end: number) => ConnectValue>> = lookupTable({
  [Message.timestamp](reader, end) {
    const [seconds = 0, nanos] = readMembers(reader, end, (each) => readBigInt(each.int64()), readInt);
    return checkedDate(Number(seconds) * 1000 + Math.floor(Number(nanos) / 1_000_000), 'Timestamp');
  },
  [Message.date](reader, end) {
    const [year, month, day] = readMembers(reader, end, readInt, readInt, readInt);
    const date = new Date(0);
    date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
    if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) {
      throw new DataError(`There is no date ${String(Number(year))}-${String(Number(month))}-${String(Number(day))}`);
    }
    return checkedDate(date.getTime(), 'Date');
  },
  [Message.timeOfDay](reader, end) {
    const [hours, minutes, seconds, nanos] = readMembers(reader, end, readInt, readInt, readInt, readInt);
    const ms = (Number(hours) * 60 + Number(minutes)) * 60_000 + Number(seconds) * 1000;
    const time = ms + Math.floor(Number(nanos) / 1_000_000);
    if (time < 0 || time > MS_PER_DAY) throw new DataError(`${String(time)} ms is not a time of day`);
    return new Date(time);
  },
  [Message.decimal](reader, end) {
    const [bytes, , scale] = readMembers(reader, end, (each) => each.bytes(), readInt, readInt);
    return bytes instanceof Uint8Array && bytes.length > 0
      ? decimalFromBytes(bytes, Number(scale))
      : new Decimal(0n, Number(scale));
  },
});

function checkedDate(milliseconds: number, logical: string): Date {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) throw new DataError(`The ${logical} is outside the range of dates`);
  return date;
}
