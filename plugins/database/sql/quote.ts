import type { TableName } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import { doubled } from './doubled.ts';

/** NAMEDATALEN - 1. PostgreSQL truncates longer names silently, so two long names could refer to the same table. */
export const MAX_IDENTIFIER_BYTES = 63;

/**
 * Quotes an identifier exactly as given, preserving case. Throws DatabaseError of scope `table` for names that
 * PostgreSQL cannot store: empty, with NUL, or longer than 63 bytes.
 */
export function quoteIdentifier(name: string): string {
  if (name.length === 0) throw refusedName('42602', 'a name must not be empty');
  if (name.includes('\0')) throw refusedName('42602', `the name ${JSON.stringify(name)} contains a NUL character`);
  // A UTF-16 unit takes at most 3 bytes, so short names need no counting.
  if (name.length * 3 > MAX_IDENTIFIER_BYTES) {
    const bytes = Buffer.byteLength(name);
    if (bytes > MAX_IDENTIFIER_BYTES) {
      const limit = String(MAX_IDENTIFIER_BYTES);
      throw refusedName('42622', `the name "${name}" has ${String(bytes)} bytes; PostgreSQL allows at most ${limit}`);
    }
  }
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteTable(table: TableName): string {
  const name = quoteIdentifier(table.name);
  return table.schema === undefined ? name : `${quoteIdentifier(table.schema)}.${name}`;
}

/**
 * Quotes a string literal. Text with a backslash becomes an `E''` literal, so that the result does not depend on
 * `standard_conforming_strings`. Throws DatabaseError (22021) for text with a NUL character.
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
