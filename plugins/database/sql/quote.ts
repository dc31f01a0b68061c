import type { TableName } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { doubled } from './doubled.ts';

/** PostgreSQL cuts longer names silently (NAMEDATALEN - 1), so that two long names could become one table. */
export const MAX_IDENTIFIER_BYTES = 63;

/**
 * An identifier in double quotes, exactly as given: case kept, quotes doubled. Rejects names that PostgreSQL cannot hold
 * (empty, with NUL, longer than 63 bytes) with a DatabaseError of scope `table`.
 */
export function quoteIdentifier(name: string): string {
  if (name.length === 0) throw refusedName('42602', 'a name must not be empty');
  if (name.includes('\0')) throw refusedName('42602', `the name ${JSON.stringify(name)} holds a NUL character`);
  // A UTF-16 unit is at most 3 bytes: short names need no counting.
  if (name.length * 3 > MAX_IDENTIFIER_BYTES) {
    const bytes = Buffer.byteLength(name);
    if (bytes > MAX_IDENTIFIER_BYTES) {
      const limit = String(MAX_IDENTIFIER_BYTES);
      throw refusedName('42622', `the name "${name}" has ${String(bytes)} bytes; PostgreSQL takes at most ${limit}`);
    }
  }
  return `"${name.replaceAll('"', '""')}"`;
}

/** `"schema"."table"`, or `"table"` alone. */
export function quoteTable(table: TableName): string {
  const name = quoteIdentifier(table.name);
  return table.schema === undefined ? name : `${quoteIdentifier(table.schema)}.${name}`;
}

/**
 * A string literal. Text with a backslash becomes an `E''` literal, so that the reading does not depend on
 * `standard_conforming_strings`. Text with a NUL is refused (22021): PostgreSQL has no such text.
 */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) {
    throw new DatabaseError('text with a NUL character cannot be stored', { scope: 'record', sqlstate: '22021' });
  }
  const quoted = doubled(text, "'");
  return quoted.includes('\\') ? `E'${doubled(quoted, '\\')}'` : `'${quoted}'`;
}

function refusedName(sqlstate: string, message: string): DatabaseError {
  return new DatabaseError(message, { scope: 'table', sqlstate });
}
