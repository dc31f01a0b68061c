import fc from 'fast-check';
import { LogicalName, Schema, type SchemaOptions, type SchemaType } from '../../../src/data/schema.ts';
import { Decimal, Struct, type ConnectValue } from '../../../src/data/value.ts';

/** A schema and values of it. */
export interface Sample {
  readonly schema: Schema;
  readonly values: readonly ConnectValue[];
}

interface Kind {
  readonly make: (options: SchemaOptions) => Schema;
  readonly value: fc.Arbitrary<ConnectValue>;
}

export interface Limits {
  /** Lists and maps inside lists and maps, nulls in both. */
  readonly nestedContainers: boolean;
  /** Maps whose keys are numbers. */
  readonly numberKeys: boolean;
}

const DAY_MS = 86_400_000;
const text = fc.string({ unit: 'grapheme', maxLength: 8 });

function scalar(type: SchemaType, value: fc.Arbitrary<ConnectValue>, name?: string, scale?: number): Kind {
  const parameters = scale === undefined ? undefined : new Map([['scale', String(scale)]]);
  const named = name === undefined ? {} : { name, version: 1, parameters };
  return { make: (options) => new Schema(type, { ...options, ...named }), value };
}

const SCALARS: readonly Kind[] = [
  scalar('int8', fc.integer({ min: -128, max: 127 })),
  scalar('int16', fc.integer({ min: -32768, max: 32767 })),
  scalar('int32', fc.integer()),
  scalar('int64', fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  scalar('float32', fc.float({ noNaN: true, noDefaultInfinity: true })),
  scalar('float64', fc.double({ noNaN: true, noDefaultInfinity: true })),
  scalar('boolean', fc.boolean()),
  scalar('string', text),
  scalar(
    'bytes',
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
  ),
  scalar(
    'bytes',
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((unscaled) => new Decimal(unscaled, 3)),
    LogicalName.decimal,
    3,
  ),
  scalar(
    'int32',
    fc.integer({ min: -700_000, max: 900_000 }).map((days) => new Date(days * DAY_MS)),
    LogicalName.date,
  ),
  scalar(
    'int32',
    fc.integer({ min: 0, max: DAY_MS - 1 }).map((ms) => new Date(ms)),
    LogicalName.time,
  ),
  scalar(
    'int64',
    fc.integer({ min: -60_000_000_000_000, max: 250_000_000_000_000 }).map((ms) => new Date(ms)),
    LogicalName.timestamp,
  ),
];

function nullable(kind: Kind, optional: boolean): { schema: Schema; value: fc.Arbitrary<ConnectValue> } {
  const schema = kind.make(optional ? { optional } : {});
  return { schema, value: optional ? fc.option(kind.value, { nil: null }) : kind.value };
}

function containerOf(of: Kind, type: 'array' | 'map' | 'numbers', optional: boolean): Kind {
  const part = nullable(of, optional);
  if (type === 'array') {
    return {
      make: (options) => Schema.array(part.schema, options),
      value: fc.array(part.value, { maxLength: 3 }),
    };
  }
  const keySchema = new Schema(type === 'map' ? 'string' : 'int32');
  const key: fc.Arbitrary<ConnectValue> =
    type === 'map'
      ? fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: fc.constant('__proto__') })
      : fc.integer();
  return {
    make: (options) => Schema.map(keySchema, part.schema, options),
    value: fc.array(fc.tuple(key, part.value), { maxLength: 3 }).map((entries) => new Map(entries)),
  };
}

let structs = 0;

function kindOf(depth: number, limits: Limits, inContainer = false): fc.Arbitrary<Kind> {
  const leaf = fc.constantFrom(...SCALARS);
  if (depth === 0) return leaf;
  const types = limits.numberKeys ? (['array', 'map', 'numbers'] as const) : (['array', 'map'] as const);
  const container = fc
    .tuple(kindOf(depth - 1, limits, true), fc.constantFrom(...types), fc.boolean())
    .map(([of, type, optional]) => containerOf(of, type, optional && limits.nestedContainers));
  const choices = [
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: structOf(depth - 1, limits) },
  ];
  const mayContain = limits.nestedContainers || !inContainer;
  return fc.oneof(...choices, ...(mayContain ? [{ weight: 2, arbitrary: container }] : []));
}

function structOf(depth: number, limits: Limits): fc.Arbitrary<Kind> {
  const field = fc.tuple(kindOf(depth, limits), fc.boolean());
  return fc.array(field, { minLength: 1, maxLength: 5 }).map((kinds) => {
    const name = `com.acme.S${String(structs++)}`;
    const fields = kinds.map(([kind, optional], index) => ({ name: `f${String(index)}`, ...nullable(kind, optional) }));
    const made = new Map<boolean, Schema>();
    const make = (options: SchemaOptions): Schema => {
      const isOptional = options.optional ?? false;
      const schema = made.get(isOptional) ?? Schema.struct(fields, { ...options, name });
      made.set(isOptional, schema);
      return schema;
    };
    return {
      make,
      value: fc
        .tuple(fc.constant(null), ...fields.map((each) => each.value))
        .map(([, ...values]) => new Struct(made.get(false) ?? made.get(true) ?? make({}), values)),
    };
  });
}

/** Structs of all that Connect has, three levels deep. */
export function samples(limits: Limits): fc.Arbitrary<Sample> {
  return structOf(3, limits).chain((kind) => {
    const schema = kind.make({});
    return fc.array(kind.value, { minLength: 1, maxLength: 4 }).map((values) => ({ schema, values }));
  });
}

/** A value without schemas, to compare by content. */
export function plain(value: ConnectValue): unknown {
  if (value instanceof Struct) {
    return {
      struct: Object.fromEntries(
        value.schema.fields.map(({ name, index }) => [name, plain(value.values[index] ?? null)]),
      ),
    };
  }
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') };
  if (value instanceof Date) return { time: value.getTime() };
  if (value instanceof Decimal) return { unscaled: value.unscaled, scale: value.scale };
  if (Array.isArray(value)) return (value as readonly ConnectValue[]).map(plain);
  if (value instanceof Map)
    return { map: [...(value as ReadonlyMap<ConnectValue, ConnectValue>)].map(([key, each]) => [key, plain(each)]) };
  return value;
}
