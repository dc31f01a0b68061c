import type { Cell, CellKind } from '../../../../src/data/row-batch.ts';
import type { Schema } from '../../../../src/data/schema.ts';
import type { ConnectValue } from '../../../../src/data/value.ts';
import type { ToCell } from './struct-cells.ts';
import type { Placeholders, IsPlaceholder } from './struct-placeholders.ts';
import { ruleOf } from './struct-types.ts';

/** A field of a struct schema as a column. */
export interface StructColumn {
  /** Name of the field and column. */
  readonly name: string;
  /** Index of the field in its schema, and of its value in a Struct. */
  readonly index: number;
  readonly schema: Schema;
  readonly kind: CellKind;
  readonly toCell: ToCell;
  /**
   * Returns true for a placeholder of a value that the event does not contain, because it has not changed. `toCell`
   * returns `undefined` for placeholders.
   */
  readonly isPlaceholder?: IsPlaceholder | undefined;
  /** The cell for null: the field's default, as in Connect's Struct.get, or null. */
  readonly nullCell: Cell;
  /** The column type for new tables, as in ColumnShape (src/data/table-shape.ts); `undefined` if it is unknown. */
  readonly type: string | undefined;
  readonly nullable: boolean;
}

const compiled = new WeakMap<Schema, readonly StructColumn[]>();

/** Returns the fields of a struct schema as columns, in order. The result is cached by Schema object. */
export function compileStruct(schema: Schema): readonly StructColumn[] {
  let columns = compiled.get(schema);
  if (columns === undefined) {
    columns = schema.fields.map(({ name, index, schema: field }) => ({ ...compileValue(field, name), index }));
    compiled.set(schema, columns);
  }
  return columns;
}

/** Describes a value, such as that of a field or a key that is not a struct, as a column of this name. */
export function compileValue(schema: Schema, name: string): StructColumn {
  const { kind, toCell, type } = ruleOf(schema);
  const byDefault = schema.defaultValue as ConnectValue | undefined;
  const nullCell = byDefault === undefined || byDefault === null ? null : (toCell(byDefault) ?? null);
  return { name, index: 0, schema, kind, toCell, nullCell, type, nullable: schema.optional };
}

/** Returns the column with a check for placeholders; the column itself if values of its type cannot be placeholders. */
export function withPlaceholders(column: StructColumn, placeholders: Placeholders): StructColumn {
  const { toCell } = column;
  const isPlaceholder = placeholders.testOf(column.schema);
  if (isPlaceholder === undefined) return column;
  return { ...column, isPlaceholder, toCell: (value) => (isPlaceholder(value) ? undefined : toCell(value)) };
}

/** Returns the message of a fault for a value that does not match its column's schema. */
export function mismatch({ name, schema }: StructColumn, value: ConnectValue): string {
  const type = schema.name ?? schema.type;
  return `the field ${JSON.stringify(name)} has ${described(value)}, which is not a valid ${type}`;
}

function described(value: ConnectValue): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(String(value)).slice(0, 60);
  return value instanceof Date ? `the time ${String(value.getTime())}` : `a ${value.constructor.name}`;
}
