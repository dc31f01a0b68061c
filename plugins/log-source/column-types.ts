import type { Struct } from '../../src/index.ts';
import { Decimal, LogicalName, Schema, type ConnectValue } from '../../src/index.ts';
import { nameUuid } from '../database/index.ts';
import { parseArray } from './array-text.ts';
import type { DataType } from './catalogue.ts';
import * as cells from './column-values.ts';
import {
  writeBoolean,
  writeDigits,
  writeDouble,
  writePlain,
  writeZonedTimestamp,
  type WriteText,
} from './json-cells.ts';
import type { ModeSettings } from './settings.ts';

/** The conversion of a column's values to values of records. */
export interface ColumnRule {
  readonly type: Schema['type'];
  readonly name?: string;
  readonly version?: number;
  readonly doc?: string;
  readonly parameters?: ReadonlyMap<string, string>;
  readonly parts?: ConstructorParameters<typeof Schema>[2];
  /** Converts the server's text to a value of the schema. @throws Error if the value does not fit the schema */
  readonly read: (text: string, schema: Schema) => ConnectValue;
  /** Writes the JSON of the values, if most of them need no conversion. */
  readonly writeText?: WriteText;
  /** The value for a required column that has no value, for instance because the old row of a delete lacks it. */
  readonly zero: (schema: Schema) => ConnectValue;
  /** The value that represents a large value which a change did not touch. */
  readonly placeholder: (schema: Schema) => ConnectValue;
}

/** The schema of a column. */
export function columnSchema(rule: ColumnRule, optional: boolean, defaultValue: ConnectValue | undefined): Schema {
  const { type, name, version, doc, parameters, parts } = rule;
  return new Schema(type, { optional, name, version, doc, parameters, defaultValue }, parts);
}

const PREFIX = 'io.debezium';

/**
 * The rule of a type; `undefined` for a type whose columns are left out of records: domains over arrays, pseudo-types
 * and, unless `include.unknown.datatypes` is true, other unsupported types.
 */
export function ruleFor(type: DataType, modifier: number, settings: ModeSettings): ColumnRule | undefined {
  if (type.base !== undefined) {
    // Domains over arrays are not supported, as in Debezium.
    if (type.base.type.element !== undefined) return undefined;
    return ruleFor(type.base.type, type.base.modifier, settings);
  }
  if (type.element !== undefined) return arrayRule(type.element, modifier, settings);
  if (type.kind === 'e') return enumRule(type.labels, settings);
  const rule = RULES[type.name]?.(modifier, settings);
  if (rule !== undefined) return rule;
  if (type.kind === 'r') return textRule(settings);
  return settings.includesUnknown && type.kind !== 'p' ? unknownRule(settings) : undefined;
}

type RuleOf = (modifier: number, settings: ModeSettings) => ColumnRule;

const RULES: Readonly<Partial<Record<string, RuleOf>>> = Object.assign(Object.create(null) as object, {
  bool: () => ({ ...plainRule('boolean', cells.boolean, false), writeText: writeBoolean }),
  int2: () => digitsRule('int16', Number, 0),
  int4: () => digitsRule('int32', Number, 0),
  int8: () => digitsRule('int64', BigInt, 0n),
  oid: () => digitsRule('int64', BigInt, 0n),
  float4: () => plainRule('float32', cells.float32, 0),
  float8: doubleRule,
  numeric: numericRule,
  money: moneyRule,
  text: text(),
  varchar: text(),
  bpchar: text(),
  name: text(),
  char: text(),
  citext: text(),
  inet: text(),
  cidr: text(),
  macaddr: text(),
  macaddr8: text(),
  isbn: text(),
  bytea: byteaRule,
  bit: bitRule,
  varbit: bitsRule,
  date: dateRule,
  time: timeRule,
  timetz: () => plainRule('string', cells.zonedTime, '00:00:00Z', `${PREFIX}.time.ZonedTime`),
  timestamp: timestampRule,
  timestamptz: (modifier: number) => {
    const precision = precisionOf(modifier);
    const read = (value: string): string => cells.zonedTimestamp(value, precision);
    const rule = plainRule('string', read, '1970-01-01T00:00:00Z', `${PREFIX}.time.ZonedTimestamp`);
    return { ...rule, writeText: writeZonedTimestamp(precision) };
  },
  interval: intervalRule,
  uuid: text('Uuid'),
  json: text('Json'),
  jsonb: text('Json'),
  xml: text('Xml'),
  tsvector: text('Tsvector'),
  ltree: text('Ltree'),
  hstore: hstoreRule,
  point: pointRule,
} satisfies Record<string, RuleOf>);

function plainRule(type: Schema['type'], read: ColumnRule['read'], zero: ConnectValue, name?: string): ColumnRule {
  const rule = { type, read, zero: () => zero, placeholder: () => zero };
  return name === undefined ? rule : { ...rule, name, version: 1 };
}

function digitsRule(type: Schema['type'], read: ColumnRule['read'], zero: ConnectValue): ColumnRule {
  return { ...plainRule(type, read, zero), writeText: writeDigits };
}

function doubleRule(): ColumnRule {
  return { ...plainRule('float64', cells.float64, 0), writeText: writeDouble };
}

function text(name?: string): RuleOf {
  return (_modifier, settings) => textRule(settings, name);
}

function textRule({ placeholder }: ModeSettings, name?: string): ColumnRule {
  const rule = plainRule('string', (value) => value, '', name === undefined ? undefined : `${PREFIX}.data.${name}`);
  return { ...rule, writeText: writePlain, placeholder: () => placeholder };
}

function unknownRule({ placeholder }: ModeSettings): ColumnRule {
  const read = (value: string): Buffer => Buffer.from(value);
  return { ...plainRule('bytes', read, Buffer.alloc(0)), placeholder: () => Buffer.from(placeholder) };
}

function enumRule(labels: readonly string[], settings: ModeSettings): ColumnRule {
  return { ...textRule(settings, 'Enum'), parameters: new Map([['allowed', labels.join(',')]]) };
}

/** Decodes a type modifier: the upper two bytes are the precision, the lower eleven bits are the scale in two's complement. */
function numericParts(modifier: number): { readonly precision: number; readonly scale: number } | undefined {
  if (modifier < 4) return undefined;
  const packed = modifier - 4;
  return { precision: packed >>> 16, scale: ((packed & 0x7ff) ^ 1024) - 1024 };
}

const VARIABLE_DECIMAL = {
  fields: [
    { name: 'scale', schema: new Schema('int32') },
    { name: 'value', schema: new Schema('bytes') },
  ],
};

function numericRule(modifier: number, settings: ModeSettings): ColumnRule {
  if (settings.decimals === 'double') return doubleRule();
  if (settings.decimals === 'string') {
    return { ...plainRule('string', cells.numericText, '0'), placeholder: () => settings.placeholder };
  }
  const parts = numericParts(modifier);
  if (parts !== undefined) {
    const { precision, scale } = parts;
    const read = (value: string): ConnectValue => cells.decimal(value, scale);
    return decimalRule(read, scale, [['connect.decimal.precision', String(precision)]]);
  }
  const name = `${PREFIX}.data.VariableScaleDecimal`;
  const zero = (schema: Schema): ConnectValue => cells.variableDecimal('0', schema);
  return {
    type: 'struct',
    name,
    version: 1,
    doc: 'Variable scaled decimal',
    parts: VARIABLE_DECIMAL,
    read: cells.variableDecimal,
    zero,
    placeholder: zero,
  };
}

function decimalRule(
  read: ColumnRule['read'],
  scale: number,
  parameters: readonly (readonly [string, string])[] = [],
): ColumnRule {
  const rule = plainRule('bytes', read, new Decimal(0n, scale), LogicalName.decimal);
  return { ...rule, parameters: new Map([['scale', String(scale)], ...parameters]) };
}

function moneyRule(_modifier: number, settings: ModeSettings): ColumnRule {
  if (settings.decimals === 'double') return plainRule('float64', (value) => Number(cells.moneyText(value)), 0);
  if (settings.decimals === 'string') return plainRule('string', cells.moneyText, '0');
  const scale = settings.moneyDigits;
  return decimalRule((value) => cells.decimal(cells.moneyText(value), scale), scale);
}

function byteaRule(_modifier: number, { binaries, placeholder }: ModeSettings): ColumnRule {
  const bytes = (value: string): Buffer => Buffer.from(value.slice(2), 'hex');
  if (binaries === 'bytes') {
    return { ...plainRule('bytes', bytes, Buffer.alloc(0)), placeholder: () => Buffer.from(placeholder) };
  }
  const encoding = binaries === 'base64-url-safe' ? 'base64url' : binaries;
  // Java's URL-safe encoder writes padding, which Node.js omits.
  const pad = (encoded: string): string =>
    encoding === 'base64url' ? encoded.padEnd(4 * Math.ceil(encoded.length / 4), '=') : encoded;
  const encode = (value: Buffer): string => pad(value.toString(encoding));
  return {
    ...plainRule('string', (value) => encode(bytes(value)), ''),
    placeholder: () => encode(Buffer.from(placeholder)),
  };
}

function bitRule(modifier: number, settings: ModeSettings): ColumnRule {
  return modifier === 1 ? plainRule('boolean', (value) => value === '1', false) : bitsRule(modifier, settings);
}

const UNLIMITED = 2 ** 31 - 1;

function bitsRule(modifier: number, _settings: ModeSettings): ColumnRule {
  const length = modifier < 0 ? UNLIMITED : modifier;
  const rule = plainRule('bytes', cells.bits, Buffer.alloc(0), `${PREFIX}.data.Bits`);
  return { ...rule, parameters: new Map([['length', String(length)]]) };
}

function dateRule(_modifier: number, { times }: ModeSettings): ColumnRule {
  if (times === 'connect') return plainRule('int32', cells.connectDate, new Date(0), LogicalName.date);
  if (times === 'isostring') return plainRule('string', cells.isoDate, '1970-01-01Z', `${PREFIX}.time.IsoDate`);
  return plainRule('int32', cells.days, 0, `${PREFIX}.time.Date`);
}

function precisionOf(modifier: number): number {
  return modifier < 0 ? 6 : modifier;
}

function timeRule(modifier: number, { times }: ModeSettings): ColumnRule {
  const precision = precisionOf(modifier);
  const millis = (value: string): number => Number(cells.timeMicros(value) / 1000n);
  switch (times) {
    case 'connect':
      return plainRule('int32', (value) => new Date(millis(value)), new Date(0), LogicalName.time);
    case 'isostring':
      return plainRule('string', cells.isoTime, '00:00:00Z', `${PREFIX}.time.IsoTime`);
    case 'nanoseconds':
      return plainRule('int64', (value) => cells.timeMicros(value) * 1000n, 0n, `${PREFIX}.time.NanoTime`);
    case 'adaptive':
      if (precision <= 3) return plainRule('int32', millis, 0, `${PREFIX}.time.Time`);
      break;
    default:
  }
  return plainRule('int64', cells.timeMicros, 0n, `${PREFIX}.time.MicroTime`);
}

function timestampRule(modifier: number, { times }: ModeSettings): ColumnRule {
  const precision = precisionOf(modifier);
  const millis = (value: string): bigint => cells.floorDivide(cells.timestampMicros(value), 1000n);
  switch (times) {
    case 'connect':
      return plainRule('int64', (value) => new Date(Number(millis(value))), new Date(0), LogicalName.timestamp);
    case 'isostring':
      return plainRule('string', cells.isoTimestamp, '1970-01-01T00:00:00Z', `${PREFIX}.time.IsoTimestamp`);
    case 'nanoseconds':
      return plainRule('int64', (value) => cells.timestampMicros(value) * 1000n, 0n, `${PREFIX}.time.NanoTimestamp`);
    case 'adaptive':
    case 'adaptive_time_microseconds':
      if (precision <= 3) return plainRule('int64', millis, 0n, `${PREFIX}.time.Timestamp`);
      break;
    default:
  }
  return plainRule('int64', cells.timestampMicros, 0n, `${PREFIX}.time.MicroTimestamp`);
}

function intervalRule(_modifier: number, { intervals }: ModeSettings): ColumnRule {
  if (intervals === 'string') {
    return plainRule('string', cells.intervalText, 'P0Y0M0DT0H0M0S', `${PREFIX}.time.Interval`);
  }
  return plainRule('int64', cells.intervalMicros, 0n, `${PREFIX}.time.MicroDuration`);
}

const HSTORE_MAP = { keySchema: new Schema('string'), valueSchema: new Schema('string', { optional: true }) };

function hstoreRule(_modifier: number, { hstores, placeholder }: ModeSettings): ColumnRule {
  if (hstores === 'json') {
    const read = (value: string): string => JSON.stringify(Object.fromEntries(cells.hstore(value)));
    return { ...plainRule('string', read, '{}', `${PREFIX}.data.Json`), placeholder: () => placeholder };
  }
  const rule = plainRule('map', cells.hstore, new Map());
  return { ...rule, parts: HSTORE_MAP, placeholder: () => new Map([[placeholder, placeholder]]) };
}

const POINT = {
  fields: [
    { name: 'x', schema: new Schema('float64') },
    { name: 'y', schema: new Schema('float64') },
    { name: 'wkb', schema: new Schema('bytes', { optional: true }) },
    { name: 'srid', schema: new Schema('int32', { optional: true }) },
  ],
};

function pointRule(): ColumnRule {
  const options = { name: `${PREFIX}.data.geometry.Point`, version: 1, doc: 'Geometry (POINT)' };
  const zero = (schema: Schema): Struct => cells.point('(0,0)', schema);
  return { type: 'struct', ...options, parts: POINT, read: cells.point, zero, placeholder: zero };
}

function arrayRule(element: DataType, modifier: number, settings: ModeSettings): ColumnRule | undefined {
  const rule = ruleFor(element, modifier, settings);
  if (rule === undefined) return undefined;
  const isRequired = element.kind === 'e' || RULES[element.name] === undefined;
  const itemSchema = columnSchema(rule, !isRequired, undefined);
  const read = (value: string): ConnectValue => {
    const items = parseArray(value).map((item) => (item === null ? null : rule.read(item, itemSchema)));
    // The item schema is required, so a NULL element cannot be represented.
    return isRequired && items.includes(null) ? null : items;
  };
  return {
    type: 'array',
    parts: { valueSchema: itemSchema },
    read,
    zero: () => [],
    placeholder: () => arrayPlaceholder(rule, itemSchema, settings),
  };
}

/**
 * Debezium's placeholder of an array. Arrays of integers contain the bytes of the text as numbers, and arrays of UUIDs
 * contain a UUID that is made from the text. Other arrays contain one placeholder of the element type.
 */
function arrayPlaceholder(rule: ColumnRule, schema: Schema, { placeholder }: ModeSettings): ConnectValue {
  if (rule.name === `${PREFIX}.data.Uuid`) return [nameUuid(placeholder)];
  if (rule.type === 'int32' || rule.type === 'int16') return [...Buffer.from(placeholder)];
  if (rule.type === 'int64') return [...Buffer.from(placeholder)].map(BigInt);
  return [rule.placeholder(schema)];
}
