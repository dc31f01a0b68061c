import { decimalBytes, MS_PER_DAY } from '../../data/logical-values.ts';
import { LogicalName, type Schema } from '../../data/schema.ts';
import { Decimal, Struct, type ConnectValue } from '../../data/value.ts';
import { DataError } from '../../errors.ts';
import { loadProtobuf, type EnumType, type MessageField, type MessageType } from './protobuf-files.ts';
import { fullNameOf, isMessage, mapParts, resolvedType } from './protobuf-fields.ts';
import { enumParameter, isUnion, protobufName } from './protobuf-from-connect.ts';
import { Message, type ProtobufSettings } from './protobuf-names.ts';
import { refuse, scalarWriting } from './protobuf-scalars.ts';
import { wrappedType } from './protobuf-to-connect.ts';
import { lookupTable } from '../../data/lookup-table.ts';

type Writer = import('protobufjs').Writer;

/** Describes how a value is written without its tag. */
interface ContentWriting {
  readonly wireType: number;
  /** Whether the value is the default, which fields without presence (plain fields of proto3) do not write. */
  readonly isDefault: (value: ConnectValue) => boolean;
  readonly write: (writer: Writer, value: ConnectValue) => void;
}

/** Writes a field of a struct, or nothing if it has no value. */
interface FieldWriting {
  readonly number: number;
  write(writer: Writer, struct: Struct): void;
}

const LENGTH_DELIMITED = 2;

/** Writes structs of a Connect schema as messages of one type. Throws a DataError if the schema or a value does not fit. */
export class MessageWriter {
  readonly #schema: Schema;
  readonly #settings: ProtobufSettings;
  readonly #strict: boolean;
  readonly #fields: readonly FieldWriting[];

  constructor(schema: Schema, message: MessageType, settings: ProtobufSettings, strict: boolean) {
    this.#schema = schema;
    this.#settings = settings;
    this.#strict = strict;
    const fields = schema.fields.flatMap((field) => this.#writings(field, message));
    this.#fields = fields.sort((a, b) => a.number - b.number);
  }

  /** Writes the message without a length prefix. */
  write(writer: Writer, value: ConnectValue): void {
    if (!(value instanceof Struct)) return refuse(this.#schema, value);
    if (value.schema !== this.#schema && value.schema.fields.length !== this.#schema.fields.length) {
      throw new DataError('Mismatching struct schema');
    }
    for (const field of this.#fields) field.write(writer, value);
  }

  #writings({ name, index, schema }: Schema['fields'][number], message: MessageType): FieldWriting[] {
    if (!isUnion(schema)) {
      const field = this.#fieldOf(name, message);
      return field === undefined ? [] : [this.#field(field, schema, (struct) => this.#valueOf(struct, index))];
    }
    return schema.fields.flatMap((member) => {
      const field = this.#fieldOf(member.name, message);
      if (field === undefined) return [];
      const memberOf = (struct: Struct): ConnectValue => {
        const union = struct.values[index] ?? null;
        return union instanceof Struct ? (union.values[member.index] ?? null) : null;
      };
      return [this.#field(field, member.schema, memberOf)];
    });
  }

  #fieldOf(name: string, message: MessageType): MessageField | undefined {
    const fields = message.fields as Readonly<Record<string, MessageField | undefined>>;
    const field = fields[protobufName(name, this.#settings)];
    if (field === undefined && this.#strict) {
      throw new DataError(`Incompatible schema: message ${fullNameOf(message)} has no field ${name}`);
    }
    return field;
  }

  #valueOf(struct: Struct, index: number): ConnectValue {
    const value = struct.values[index] ?? null;
    if (value !== null || this.#settings.ignoreDefaultForNullables) return value;
    return (struct.schema.fields[index]?.schema.defaultValue as ConnectValue | undefined) ?? null;
  }

  #field(field: MessageField, schema: Schema, valueOf: (struct: Struct) => ConnectValue): FieldWriting {
    const write = this.#fieldWriter(field, schema);
    return {
      number: field.id,
      write: (writer, struct) => {
        const value = valueOf(struct);
        if (value !== null) write(writer, value);
        else if (field.required) throw new DataError(`Field ${field.name} is required`);
      },
    };
  }

  #fieldWriter(field: MessageField, schema: Schema): (writer: Writer, value: ConnectValue) => void {
    const map = mapParts(field);
    if (map !== undefined) return this.#map(field, map, schema);
    if (field.repeated) return this.#repeated(field, schema);
    const { wireType, isDefault, write } = this.#content(field, schema);
    const tag = tagOf(field.id, wireType);
    const hasPresence = field.hasPresence;
    return (writer, value) => {
      if (!hasPresence && isDefault(value)) return;
      writer.uint32(tag);
      write(writer, value);
    };
  }

  #repeated(field: MessageField, schema: Schema): (writer: Writer, value: ConnectValue) => void {
    const element = schema.valueSchema;
    if (schema.type !== 'array' || element === undefined) return misfit(schema, field);
    const { wireType, write } = this.#content(field, element);
    const isPacked = field.packed && wireType !== LENGTH_DELIMITED;
    const tag = tagOf(field.id, isPacked ? LENGTH_DELIMITED : wireType);
    return (writer, value) => {
      if (!Array.isArray(value)) return refuse(schema, value);
      const list = value as readonly ConnectValue[];
      if (list.includes(null)) throw new DataError(`Field ${field.name}: a list in Protobuf cannot have nulls`);
      if (list.length === 0) return;
      if (isPacked) {
        writer.uint32(tag).fork();
        for (const each of list) write(writer, each);
        writer.ldelim();
        return;
      }
      for (const each of list) {
        writer.uint32(tag);
        write(writer, each);
      }
    };
  }

  #map(
    field: MessageField,
    { key, value }: NonNullable<ReturnType<typeof mapParts>>,
    schema: Schema,
  ): (writer: Writer, value: ConnectValue) => void {
    const { keySchema, valueSchema } = schema;
    if (schema.type !== 'map' || keySchema === undefined || valueSchema === undefined) return misfit(schema, field);
    const keyWriting = typeof key === 'string' ? scalarWriting(key, keySchema) : this.#content(key, keySchema);
    const valueWriting = this.#content(value, valueSchema);
    const tag = tagOf(field.id, LENGTH_DELIMITED);
    const keyTag = tagOf(1, keyWriting.wireType);
    const valueTag = tagOf(2, valueWriting.wireType);
    return (writer, content) => {
      if (!(content instanceof Map)) return refuse(schema, content);
      for (const [eachKey, each] of content as ReadonlyMap<ConnectValue, ConnectValue>) {
        if (eachKey === null || each === null)
          throw new DataError(`Field ${field.name}: a map in Protobuf has no nulls`);
        writer.uint32(tag).fork();
        keyWriting.write(writer.uint32(keyTag), eachKey);
        valueWriting.write(writer.uint32(valueTag), each);
        writer.ldelim();
      }
    };
  }

  #content(field: MessageField, schema: Schema): ContentWriting {
    const type = resolvedType(field);
    if (type === undefined) return scalarWriting(field.type, schema);
    return isMessage(type) ? this.#message(type, schema, field) : enumWriting(type, schema, this.#settings);
  }

  #message(type: MessageType, schema: Schema, field: MessageField): ContentWriting {
    const write = this.#messageWriter(type, schema, field);
    return {
      wireType: LENGTH_DELIMITED,
      isDefault: () => false,
      write: (writer, value) => {
        writer.fork();
        write(writer, value);
        writer.ldelim();
      },
    };
  }

  #messageWriter(
    type: MessageType,
    schema: Schema,
    field: MessageField,
  ): (writer: Writer, value: ConnectValue) => void {
    const special = SPECIAL[fullNameOf(type)];
    if (special !== undefined) return schema.name === special.logical ? special.write : misfit(schema, field);
    const wrapped = wrappedType(type);
    if (wrapped !== undefined && schema.type !== 'struct') return wrappedWriter(wrapped, schema);
    if (schema.type !== 'struct') return misfit(schema, field);
    const inner = new MessageWriter(schema, type, this.#settings, this.#strict);
    return (writer, value) => inner.write(writer, value);
  }
}

/** Writes a value as the content of its wrapper. */
export function wrappedWriter(type: string, schema: Schema): (writer: Writer, value: ConnectValue) => void {
  const { wireType, isDefault, write } = scalarWriting(type, schema);
  const tag = tagOf(1, wireType);
  return (writer, value) => {
    if (isDefault(value)) return;
    writer.uint32(tag);
    write(writer, value);
  };
}

function tagOf(number: number, wireType: number): number {
  return ((number << 3) | wireType) >>> 0;
}

function enumWriting(type: EnumType, schema: Schema, settings: ProtobufSettings): ContentWriting {
  const values = type.values as Readonly<Record<string, number | undefined>>;
  const prefix = `${enumParameter(schema, settings) ?? ''}.`;
  const numberOf = (value: ConnectValue): number => {
    if (typeof value === 'number' && schema.type === 'int32') return value;
    if (typeof value !== 'string') return refuse(schema, value);
    const number = values[value] ?? Number(schema.parameters?.get(prefix + value) ?? NaN);
    if (!Number.isInteger(number)) throw new DataError(`${value} is not a symbol of the enum ${type.name}`);
    return number;
  };
  return {
    wireType: 0,
    isDefault: (value) => numberOf(value) === 0,
    write: (writer, value) => void writer.int32(numberOf(value)),
  };
}

interface SpecialWriting {
  readonly logical: string;
  readonly write: (writer: Writer, value: ConnectValue) => void;
}

const SPECIAL: Readonly<Record<string, SpecialWriting>> = lookupTable({
  [Message.timestamp]: {
    logical: LogicalName.timestamp,
    write: (writer, value) => {
      const time = dateOf(value, 'Timestamp').getTime();
      const seconds = Math.floor(time / 1000);
      if (seconds !== 0) writer.uint32(tagOf(1, 0)).int64(seconds);
      writeInts(writer, 2, [(time - seconds * 1000) * 1_000_000]);
    },
  },
  [Message.date]: {
    logical: LogicalName.date,
    write: (writer, value) => {
      const date = dateOf(value, 'Date');
      if (date.getTime() % MS_PER_DAY !== 0) {
        throw new DataError('Kafka Connect Date type should not have any time fields set to non-zero values.');
      }
      writeInts(writer, 1, [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]);
    },
  },
  [Message.timeOfDay]: {
    logical: LogicalName.time,
    write: (writer, value) => {
      const time = dateOf(value, 'Time').getTime();
      if (time < 0 || time > MS_PER_DAY) {
        throw new DataError('Time values must use number of millis greater than 0 and less than 86400000');
      }
      const seconds = Math.floor(time / 1000);
      const nanos = (time % 1000) * 1_000_000;
      writeInts(writer, 1, [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60, nanos]);
    },
  },
  [Message.decimal]: {
    logical: LogicalName.decimal,
    write: (writer, value) => {
      if (!(value instanceof Decimal)) throw new DataError('Invalid type for Decimal, expected BigDecimal');
      writer.uint32(tagOf(1, LENGTH_DELIMITED)).bytes(decimalBytes(value));
      const digits = (value.unscaled < 0n ? -value.unscaled : value.unscaled).toString().length;
      writeInts(writer, 2, [digits, value.scale]);
    },
  },
});

/** Writes numbers as consecutive fields from number `first`; zeros are omitted. */
function writeInts(writer: Writer, first: number, numbers: readonly number[]): void {
  for (const [index, number] of numbers.entries()) {
    if (number !== 0) writer.uint32(tagOf(first + index, 0)).int32(number);
  }
}

function dateOf(value: ConnectValue, logical: string): Date {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  throw new DataError(`Invalid type for ${logical}, expected Date`);
}

function misfit(schema: Schema, field: MessageField): never {
  throw new DataError(
    `Incompatible schema: ${schema.type} cannot be written as Protobuf field ${field.name} (${field.type})`,
  );
}

/** Returns the bytes that a function writes. */
export function written(write: (writer: Writer) => void): Uint8Array {
  const writer = loadProtobuf().Writer.create();
  write(writer);
  return writer.finish();
}
