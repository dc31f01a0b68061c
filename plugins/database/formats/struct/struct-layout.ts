import type { SinkRecord } from '../../../../src/data/record.ts';
import { Schema } from '../../../../src/data/schema.ts';
import type { ColumnShape, TableShape } from '../../../../src/data/table-shape.ts';
import { Struct, type ConnectValue } from '../../../../src/data/value.ts';
import { compileStruct, compileValue, withPlaceholders, type StructColumn } from './struct-columns.ts';
import { Placeholders } from './struct-placeholders.ts';

export type KeyMode = 'none' | 'record_key' | 'record_value' | 'kafka';

/**
 * Options that determine the columns of rows and which columns identify a row: `pk.mode`, `pk.fields`,
 * `fields.include`, `fields.exclude`.
 */
export interface LayoutPolicy {
  readonly keyMode: KeyMode;
  readonly keyFields: readonly string[];
  /** Empty means all fields. Key columns are always included. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** `unavailable.value.placeholder`; empty if no value is a placeholder. */
  readonly placeholder: string;
}

/** How records with the same schemas are converted to rows. */
export interface RowLayout {
  readonly operation: 'store' | 'delete';
  /** Columns that identify a row. */
  readonly key: readonly string[];
  /**
   * Columns from the record's key or its Kafka coordinates; `index` refers to the result of `keyValues`. They come
   * first in a row.
   */
  readonly fromKey: readonly StructColumn[];
  /** Columns from the fields of the record's value. */
  readonly fromValue: readonly StructColumn[];
  readonly columns: ReadonlySet<string>;
  readonly shape: TableShape;
}

const KAFKA_COLUMNS = ['__connect_topic', '__connect_partition', '__connect_offset'] as const;
const KAFKA_SCHEMAS = [new Schema('string'), new Schema('int32'), new Schema('int64')] as const;

/** Replaces the value schema of a deletion, and the key schema if the key is not used. */
const NO_SCHEMA = new Schema('struct');

/** Layouts by the schemas of value and key, cached as long as the schemas exist. */
export class RowLayouts {
  readonly #policy: LayoutPolicy;
  readonly #placeholders: Placeholders;
  readonly #known = new WeakMap<Schema, WeakMap<Schema, RowLayout | string>>();
  readonly #deletions = new WeakMap<Schema, RowLayout | string>();

  constructor(policy: LayoutPolicy) {
    this.#policy = policy;
    this.#placeholders = new Placeholders(policy.placeholder);
  }

  /**
   * Returns the layout of a record. `value` is the schema of its struct, `undefined` for a deletion. If no row can be
   * built, returns the reason as a string.
   */
  of(value: Schema | undefined, key: Schema | undefined): RowLayout | string {
    const valueSchema = value ?? NO_SCHEMA;
    const keySchema = key ?? NO_SCHEMA;
    let byKey = this.#known.get(valueSchema);
    if (byKey === undefined) this.#known.set(valueSchema, (byKey = new WeakMap()));
    let layout = byKey.get(keySchema);
    if (layout === undefined) byKey.set(keySchema, (layout = makeLayout(this.#policy, this.#placeholders, value, key)));
    return layout;
  }

  /** Returns the layout of a deletion whose key is in the old state of the row, which has the schema `before`. */
  ofDeleted(before: Schema): RowLayout | string {
    let layout = this.#deletions.get(before);
    if (layout === undefined) this.#deletions.set(before, (layout = deletionLayout(this.#policy, before)));
    return layout;
  }
}

/** Returns the values for the columns of `fromKey`. */
export function keyValues(mode: KeyMode, key: ConnectValue, { original }: SinkRecord): readonly ConnectValue[] {
  // Uses the original coordinates, because transforms may give two topics the same name.
  if (mode === 'kafka') return [original.topic, original.partition, BigInt(original.offset)];
  return key instanceof Struct ? key.values : [key];
}

function makeLayout(
  policy: LayoutPolicy,
  placeholders: Placeholders,
  value: Schema | undefined,
  key: Schema | undefined,
): RowLayout | string {
  const fromKey = keyColumns(policy, key);
  if (typeof fromKey === 'string') return fromKey;
  const inKey = new Set(fromKey.map(({ name }) => name));
  const all = value === undefined ? [] : compileStruct(value).filter(({ name }) => !inKey.has(name));
  const keyInValue = policy.keyMode === 'record_value' ? chosen(all, policy.keyFields) : [];
  if (typeof keyInValue === 'string') return `pk.mode=record_value: the record's value ${keyInValue}`;
  const names = [...fromKey, ...keyInValue].map(({ name }) => name);
  const fromValue = all.flatMap((column) => {
    if (names.includes(column.name)) return [column];
    return isWanted(column.name, policy) ? [withPlaceholders(column, placeholders)] : [];
  });
  if (fromKey.length + fromValue.length === 0) return 'the record has no fields that could be columns';
  return layoutOf(value === undefined ? 'delete' : 'store', names, fromKey, fromValue);
}

function deletionLayout({ keyFields }: LayoutPolicy, before: Schema): RowLayout | string {
  const columns = chosen(compileStruct(before), keyFields);
  if (typeof columns === 'string') return `pk.mode=record_value: the old state of the deleted row ${columns}`;
  return layoutOf('delete', keyFields, [], columns);
}

function layoutOf(
  operation: RowLayout['operation'],
  key: readonly string[],
  fromKey: readonly StructColumn[],
  fromValue: readonly StructColumn[],
): RowLayout {
  const columns = [...fromKey, ...fromValue];
  return {
    operation,
    key,
    fromKey,
    fromValue,
    columns: new Set(columns.map(({ name }) => name)),
    shape: shapeOf(columns, key),
  };
}

function isWanted(name: string, { include, exclude }: LayoutPolicy): boolean {
  return (include.length === 0 || include.includes(name)) && !exclude.includes(name);
}

function keyColumns({ keyMode, keyFields }: LayoutPolicy, key: Schema | undefined): readonly StructColumn[] | string {
  if (keyMode === 'kafka') {
    return KAFKA_SCHEMAS.map((schema, index) => ({
      ...compileValue(schema, keyFields[index] ?? KAFKA_COLUMNS[index] ?? ''),
      index,
    }));
  }
  if (keyMode !== 'record_key') return [];
  if (key === undefined) return 'pk.mode=record_key: the record has no key';
  if (key.type === 'struct') {
    const columns = chosen(compileStruct(key), keyFields);
    return typeof columns === 'string' ? `pk.mode=record_key: the record's key ${columns}` : columns;
  }
  const [name, ...more] = keyFields;
  if (name !== undefined && more.length === 0) return [compileValue(key, name)];
  return `pk.mode=record_key: the record's key is one value of type ${key.type}, so pk.fields must be one name, not ${named(keyFields)}`;
}

/** Selects columns by name, in the order of the names; without names, all columns. */
function chosen(columns: readonly StructColumn[], names: readonly string[]): readonly StructColumn[] | string {
  if (names.length === 0) return columns;
  const found = names.flatMap((name) => columns.filter((column) => column.name === name));
  const missing = names.filter((name) => !columns.some((column) => column.name === name));
  return missing.length === 0 ? found : `has no field ${named(missing)}, which is in pk.fields`;
}

function named(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => JSON.stringify(name)).join(', ');
}

function shapeOf(columns: readonly StructColumn[], key: readonly string[]): TableShape {
  const shapes = columns.flatMap(({ name, type, nullable }): ColumnShape[] => {
    if (type === undefined) return [];
    return [{ name, role: 'data', type, length: undefined, nullable: nullable && !key.includes(name) }];
  });
  return { exact: false, columns: shapes, key };
}

/** Numeric types in ascending width; if two layouts differ in a column's type, the wider one is used. */
const WIDTHS: readonly string[] = ['INT2', 'INT4', 'INT8', 'FLOAT4', 'FLOAT8', 'NUMERIC'];

/**
 * Returns the shape of a table for rows of several layouts. The table has the columns of all layouts. A column is
 * nullable if it is nullable in a layout, or if a layout does not have it.
 */
export function mergeShapes(shapes: readonly TableShape[]): TableShape {
  const columns = new Map<string, ColumnShape>();
  for (const shape of shapes) {
    for (const column of shape.columns) {
      const known = columns.get(column.name);
      const type = known === undefined || widthOf(column) > widthOf(known) ? column.type : known.type;
      const isEverywhere = shapes.every((other) => other.columns.some(({ name }) => name === column.name));
      const nullable = column.nullable || !isEverywhere || known?.nullable === true;
      columns.set(column.name, { ...column, type, nullable });
    }
  }
  return { exact: false, columns: [...columns.values()], key: shapes[0]?.key };
}

function widthOf({ type }: ColumnShape): number {
  const [name = ''] = type.split('(', 1);
  return WIDTHS.indexOf(name);
}
