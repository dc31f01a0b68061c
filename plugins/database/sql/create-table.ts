import type { ColumnRole, TableName } from '../../../src/data/row-batch.ts';
import { tableText } from '../../../src/data/row-batch.ts';
import type { ColumnShape, TableShape } from '../../../src/data/table-shape.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { columnMark } from './mark.ts';
import { quoteIdentifier, quoteLiteral, quoteTable } from './quote.ts';
import { qualifiedType } from './type-names.ts';

/**
 * Returns the statements that create a table of this shape; the caller runs them in one transaction. A shape with a
 * `time` column becomes a time-series table. Its columns are ordered time, nanoseconds, data, tags. Its primary key is
 * (time, nanoseconds, primary tags). If it has tags but no primary tags, it has no primary key, but a unique constraint
 * on (time, nanoseconds, all tags). Tags are marked by comments (mark.ts). Any other shape keeps its column order and
 * key. `options` is SQL from the configuration that follows the column list (`WITH (…)`, `TABLESPACE …`). Throws
 * DatabaseError of scope `table` for unknown types, invalid names and repeated columns.
 */
export function createTableStatements(table: TableName, shape: TableShape, options = ''): string[] {
  refuseRepeatedColumns(table, shape);
  const time = shape.columns.find((column) => column.role === 'time');
  const columns = tableOrder(shape.columns);
  const lines = columns.map(columnDefinition);
  if (time !== undefined) {
    const others = columns.filter(({ role }) => role === 'nanos' || role === 'primary-tag');
    const key = [time, ...others].map((column) => quoteIdentifier(column.name));
    const tags = columns.filter(({ role }) => role === 'tag').map((column) => quoteIdentifier(column.name));
    if (isKeyedByAllTags(shape)) lines.push(`UNIQUE NULLS NOT DISTINCT (${[...key, ...tags].join(', ')})`);
    else lines.push(`PRIMARY KEY (${key.join(', ')})`);
  } else if (shape.key !== undefined && shape.key.length > 0) {
    lines.push(`PRIMARY KEY (${shape.key.map(quoteIdentifier).join(', ')})`);
  }
  const suffix = options === '' ? '' : ` ${options}`;
  return [`CREATE TABLE ${quoteTable(table)} (${lines.join(', ')})${suffix}`, ...markStatements(table, columns)];
}

/**
 * Returns true if a table of this shape needs a unique constraint on all its tags. They may be NULL, which a primary key
 * does not allow.
 */
export function isKeyedByAllTags({ columns }: TableShape): boolean {
  const has = (wanted: ColumnRole): boolean => columns.some(({ role }) => role === wanted);
  return has('time') && has('tag') && !has('primary-tag');
}

export function tableOrder(columns: readonly ColumnShape[]): readonly ColumnShape[] {
  const time = columns.find((column) => column.role === 'time');
  if (time === undefined) return columns;
  const nanos = columns.filter((column) => column.role === 'nanos');
  const tags = columns.filter((column) => columnMark(column.role) !== undefined);
  const data = columns.filter((column) => column !== time && !nanos.includes(column) && !tags.includes(column));
  return [time, ...nanos, ...data, ...tags];
}

function columnDefinition(column: ColumnShape): string {
  const type = qualifiedType(timeType(column), column.length);
  const inKey = column.role === 'time' || column.role === 'nanos' || column.role === 'primary-tag';
  const otherwise = column.role === 'nanos' ? ' DEFAULT 0' : '';
  return `${quoteIdentifier(column.name)} ${type}${inKey || !column.nullable ? ' NOT NULL' : ''}${otherwise}`;
}

/** As in the original database, the time column is always a timestamptz, even if the shape says TIMESTAMP. */
function timeType(column: ColumnShape): string {
  return column.role === 'time' ? column.type.replace(/^TIMESTAMP(?!TZ| WITH )/i, 'TIMESTAMPTZ') : column.type;
}

function markStatements(table: TableName, columns: readonly ColumnShape[]): string[] {
  return columns.flatMap((column) => {
    const mark = columnMark(column.role);
    if (mark === undefined) return [];
    return [`COMMENT ON COLUMN ${quoteTable(table)}.${quoteIdentifier(column.name)} IS ${quoteLiteral(mark)}`];
  });
}

function refuseRepeatedColumns(table: TableName, shape: TableShape): void {
  const seen = new Set<string>();
  for (const { name } of shape.columns) {
    if (seen.has(name)) {
      throw new DatabaseError(`column "${name}" occurs twice in the description of table "${tableText(table)}"`, {
        scope: 'table',
        sqlstate: '42701',
        column: name,
      });
    }
    seen.add(name);
  }
}
