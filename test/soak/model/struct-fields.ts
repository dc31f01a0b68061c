import type { Draw } from '../../support/random.ts';
import {
  bytesOfInteger,
  decimalText,
  drawBoolean,
  drawBytes,
  drawDocument,
  drawFloat,
  drawInteger,
  drawString,
  type DrawnValue,
} from './drawn-values.ts';
import type { ColumnType } from './table-model.ts';

/** A field of struct records, and the column that is created for it. */
export interface StructField {
  readonly name: string;
  /** The field in a schema of JsonConverter, without its name and `optional`. */
  readonly schema: object;
  readonly column: ColumnType;
  readonly value: (draw: Draw) => DrawnValue;
  /** The default in the schema, which replaces null. */
  readonly defaultValue?: DrawnValue | undefined;
  readonly isOptional: boolean;
  /** The first step whose records contain the field. */
  readonly since: number;
}

interface Kind {
  readonly schema: object;
  readonly column: ColumnType;
  readonly value: (draw: Draw) => DrawnValue;
}

const DAY_MS = 86_400_000;
const logical = (type: string, name: string, more: object = {}): object => ({
  type,
  name: `org.apache.kafka.connect.data.${name}`,
  version: 1,
  ...more,
});

function decimal(scale: number, precision?: number): Kind {
  const parameters = {
    scale: String(scale),
    ...(precision === undefined ? {} : { 'connect.decimal.precision': String(precision) }),
  };
  return {
    schema: logical('bytes', 'Decimal', { parameters }),
    column: precision === undefined ? 'numeric' : `numeric(${String(precision)},${String(scale)})`,
    value: (draw) => {
      const unscaled = draw.pick([0n, 1n, -1n, 127n, 128n, -128n, -129n, 99_999n, -12_345n, 255n].map(Number));
      const integer = BigInt(unscaled);
      return { json: JSON.stringify(bytesOfInteger(integer)), cell: decimalText(integer, scale) };
    },
  };
}

const inTime = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .slice(11, 23)
    .replace(/\.?0+$/, '');

/** Types of fields in records with schemas. */
const KINDS: readonly Kind[] = [
  { schema: { type: 'int8' }, column: 'smallint', value: (draw) => small(draw, -128, 127) },
  { schema: { type: 'int16' }, column: 'smallint', value: (draw) => drawInteger(draw, 'smallint') },
  { schema: { type: 'int32' }, column: 'integer', value: (draw) => drawInteger(draw, 'integer') },
  { schema: { type: 'int64' }, column: 'bigint', value: (draw) => drawInteger(draw, 'bigint') },
  { schema: { type: 'float' }, column: 'real', value: (draw) => drawFloat(draw, 'real') },
  { schema: { type: 'double' }, column: 'double precision', value: (draw) => drawFloat(draw, 'double precision') },
  { schema: { type: 'boolean' }, column: 'boolean', value: drawBoolean },
  { schema: { type: 'string' }, column: 'text', value: (draw) => drawString(draw) },
  { schema: { type: 'bytes' }, column: 'bytea', value: drawBytes },
  decimal(2),
  decimal(2, 12),
  decimal(0),
  {
    schema: logical('int32', 'Date'),
    column: 'date',
    value: (draw) => {
      const day = draw.between(-1000, 30_000);
      return { json: String(day), cell: new Date(day * DAY_MS).toISOString().slice(0, 10) };
    },
  },
  {
    schema: logical('int32', 'Time'),
    column: 'time without time zone',
    value: (draw) => {
      const ms = draw.pick([1, 61_500, 3_723_004, DAY_MS - 1]);
      return { json: String(ms), cell: inTime(ms) };
    },
  },
  {
    schema: logical('int64', 'Timestamp'),
    column: 'timestamp with time zone',
    value: (draw) => {
      const ms = draw.between(-1_000_000_000, 2_000_000_000) * 1000 + draw.between(0, 999);
      return { json: String(ms), cell: String(BigInt(ms) * 1000n) };
    },
  },
  {
    schema: { type: 'array', items: { type: 'int64' } },
    column: 'jsonb',
    value: (draw) => drawDocument(draw, 'list'),
  },
];

/** Types of values in maps without a schema. */
const PLAIN_KINDS: readonly Kind[] = [
  { schema: {}, column: 'bigint', value: (draw) => drawInteger(draw, 'bigint') },
  { schema: {}, column: 'double precision', value: drawFraction },
  { schema: {}, column: 'boolean', value: drawBoolean },
  { schema: {}, column: 'text', value: (draw) => drawString(draw) },
  { schema: {}, column: 'jsonb', value: (draw) => drawDocument(draw, 'list') },
  { schema: {}, column: 'jsonb', value: (draw) => drawDocument(draw, 'object') },
];

export interface FieldChoice {
  readonly hasSchemas: boolean;
  readonly grows: boolean;
  readonly steps: number;
}

/** Draws the fields of values. The first fields are in all records from the first step on. */
export function drawFields(draw: Draw, { hasSchemas, grows, steps }: FieldChoice): readonly StructField[] {
  const kinds = hasSchemas ? KINDS : PLAIN_KINDS;
  return Array.from({ length: draw.between(2, 8) }, (_none, index) => {
    const kind = draw.pick(kinds);
    const since = grows && index > 0 ? draw.pick([0, 0, 1, 2, steps - 1]) : 0;
    const isOptional = index > 0 && (since > 0 || draw.chance(0.8));
    const hasDefault = hasSchemas && isOptional && since === 0 && draw.chance(0.15);
    const defaultValue = hasDefault ? kind.value(draw) : undefined;
    return { name: `f${String(index)}`, ...kind, isOptional: hasSchemas ? isOptional : true, since, defaultValue };
  });
}

/** Formats a field as JsonConverter writes it in a schema. */
export function fieldSchema({ name, schema, isOptional, defaultValue }: StructField): string {
  const json = JSON.stringify({ ...schema, optional: isOptional, field: name });
  return defaultValue === undefined ? json : `${json.slice(0, -1)},"default":${defaultValue.json}}`;
}

function small(draw: Draw, least: number, most: number): DrawnValue {
  const text = String(draw.between(least, most));
  return { json: text, cell: text };
}

/** Returns a number that is never an integer, because the first value determines the type of a column. */
function drawFraction(draw: Draw): DrawnValue {
  const text = draw.pick(['0.5', '-2.25', '0.1', '1.5e-7', '123456789.125']);
  return { json: text, cell: String(Number(text)) };
}
