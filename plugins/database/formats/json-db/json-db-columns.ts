import type { CellKind, ColumnRole } from '../../../../src/data/row-batch.ts';
import type { ColumnShape, TableShape } from '../../../../src/data/table-shape.ts';
import { shown } from '../message-text.ts';
import { KIND_OF_FAMILY, valueFamily, type ValueFamily } from './type-families.ts';

/** PostgreSQL's limit for the columns of a table. */
export const MAX_COLUMNS = 1_600;

export interface JsonDbColumn extends ColumnShape {
  readonly family: ValueFamily;
  readonly kind: CellKind;
  /** True if this tag holds the table's name. Rows that omit the tag get the table's name as its value. */
  readonly isNameTag: boolean;
}

/** The table description in a json_db message, which is the same for all rows of the message. */
export interface JsonDbTable {
  readonly name: string;
  readonly columns: readonly JsonDbColumn[];
  readonly indexes: ReadonlyMap<string, number>;
  readonly shape: TableShape;
  /** Equal if the columns are equal, apart from white space and the case of type names. Does not identify the table. */
  readonly signature: string;
}

/** Columns and tags as written in the message, validated by the schema in json-db-envelope.ts. */
export interface ColumnText {
  readonly name: string;
  readonly type: string;
  readonly length?: number | null | undefined;
  readonly nullable?: boolean | null | undefined;
  readonly primary?: boolean | null | undefined;
  readonly isPrimary?: boolean | null | undefined;
}

/**
 * Builds the table that a message describes, or returns a string that describes the problem. Without tags, the table's
 * name becomes its primary tag (docs/sink.md#tables-and-rows), unless `tagsWhenAbsent` is `none` or the table has the
 * maximum number of columns.
 */
export function describeTable(
  name: string,
  columns: readonly ColumnText[],
  tags: readonly ColumnText[],
  tagsWhenAbsent: 'table-name' | 'none',
): JsonDbTable | string {
  const described = [...columns.map(dataColumn), ...tags.map(tagColumn)];
  const hasRoom = described.length < MAX_COLUMNS;
  if (tags.length === 0 && tagsWhenAbsent === 'table-name' && hasRoom) described.push(nameTag(name));
  if (described.length > MAX_COLUMNS) return `a table cannot have ${String(described.length)} columns`;
  const indexes = new Map<string, number>();
  for (const [index, column] of described.entries()) {
    if (indexes.has(column.name)) return `the column ${shown(column.name)} of table ${name} is listed twice`;
    indexes.set(column.name, index);
  }
  const shapes = described.map(({ name: column, role, type, length, nullable }) => ({
    name: column,
    role,
    type,
    length,
    nullable,
  }));
  const shape = { exact: true, columns: shapes };
  return { name, columns: described, indexes, shape, signature: JSON.stringify(shapes) };
}

const TYPE_OF_VALUE: Readonly<Record<string, string>> = {
  number: 'FLOAT8',
  string: 'VARCHAR',
  true: 'BOOL',
  false: 'BOOL',
  object: 'JSONB',
  array: 'JSONB',
};

/** Returns a column for a value that the message does not describe; `undefined` for null, which has no type. */
export function columnOfValue(name: string, value: string | undefined): JsonDbColumn | undefined {
  const type = TYPE_OF_VALUE[value ?? ''];
  return type === undefined ? undefined : column({ name, type }, 'data', true);
}

function dataColumn(text: ColumnText, index: number): JsonDbColumn {
  const time = index === 0 && valueFamily(text.type) === 'time';
  return column(text, time ? 'time' : 'data', text.nullable ?? !time);
}

function tagColumn(text: ColumnText): JsonDbColumn {
  const primary = (text.primary ?? false) || (text.isPrimary ?? false);
  return column(text, primary ? 'primary-tag' : 'tag', !primary && (text.nullable ?? true));
}

function nameTag(table: string): JsonDbColumn {
  return { ...column({ name: table, type: 'VARCHAR' }, 'primary-tag', false), isNameTag: true };
}

function column(text: ColumnText, role: ColumnRole, nullable: boolean): JsonDbColumn {
  const family = valueFamily(text.type);
  const type = text.type.trim().toUpperCase().replace(/\s+/g, ' ');
  // The lengths of other types are in bits (of decimals: in digits) and are not used (docs/formats.md#json_db).
  const length = family === 'text' && (text.length ?? 0) > 0 ? (text.length ?? undefined) : undefined;
  return { name: text.name, role, type, length, nullable, family, kind: KIND_OF_FAMILY[family], isNameTag: false };
}
