import { DatabaseError } from '../../../../src/errors.ts';
import type { TokenReader } from '../token-reader.ts';
import { postgresType } from '../type-names.ts';
import { Refused } from './translation.ts';

/** The type in a column definition, with a name from type-names.ts. */
export interface WrittenType {
  /** In upper case, with its modifiers: `TIMESTAMPTZ(3)`, `VARCHAR(64)`. */
  readonly name: string;
  readonly notice: string | undefined;
}

/** Type names that consist of several words. */
const FOLLOWING_WORDS: readonly (readonly string[])[] = [
  ['DOUBLE', 'PRECISION'],
  ['CHARACTER', 'VARYING'],
  ['CHAR', 'VARYING'],
  ['BIT', 'VARYING'],
  ['NATIONAL', 'CHARACTER', 'VARYING'],
  ['NATIONAL', 'CHAR', 'VARYING'],
  ['NATIONAL', 'CHARACTER'],
  ['NATIONAL', 'CHAR'],
];

/** Per the original database's manual on time-series data types, INT and INTEGER are INT4, and INT64 is INT8. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['INT', 'INT4'],
  ['INTEGER', 'INT4'],
  ['INT64', 'INT8'],
  ['CHAR VARYING', 'VARCHAR'],
  ['NATIONAL CHARACTER VARYING', 'VARCHAR'],
  ['NATIONAL CHAR VARYING', 'VARCHAR'],
  ['NATIONAL CHARACTER', 'NCHAR'],
  ['NATIONAL CHAR', 'NCHAR'],
  ['BIT VARYING', 'VARBIT'],
  ['DEC', 'DECIMAL'],
]);

/** The original database's default precision. */
const DEFAULT_PRECISION = 3;
/** PostgreSQL's maximum precision. */
const MAX_PRECISION = 6;

/** Reads a type of the original database's time-series tables, if present. */
export function readSeriesType(reader: TokenReader): WrittenType | undefined {
  const start = reader.position;
  const first = reader.keyword();
  if (first === undefined) return undefined;
  const words = FOLLOWING_WORDS.find((candidate) => reader.isWords(...candidate)) ?? [first];
  reader.position += words.length;
  const name = SYNONYMS.get(words.join(' ')) ?? words.join(' ');
  const modifier = readModifier(reader);
  if (modifier === undefined) {
    reader.position = start;
    return undefined;
  }
  if (name === 'TIMESTAMP' || name === 'TIMESTAMPTZ') return timestampType(reader, name, modifier);
  const brackets = reader.takeSign('[') && reader.takeSign(']') ? '[]' : '';
  // The number is a length in characters for text types, and is ignored for bytes.
  return { name: `${name}${modifier.length === 0 ? '' : `(${modifier.join(',')})`}${brackets}`, notice: undefined };
}

/**
 * Returns the numbers of `(10)` or `(10,2)`; an empty list without parentheses, and `undefined` for any other content.
 */
function readModifier(reader: TokenReader): readonly string[] | undefined {
  const numbers: string[] = [];
  if (!reader.takeSign('(')) return numbers;
  do {
    const source = reader.source();
    if (!/^\d{1,9}$/.test(source)) return undefined;
    numbers.push(source);
    reader.position += 1;
  } while (reader.takeSign(','));
  return reader.takeSign(')') ? numbers : undefined;
}

function timestampType(reader: TokenReader, name: string, modifier: readonly string[]): WrittenType {
  const isWith = reader.takeWords('WITH', 'TIME', 'ZONE');
  if (!isWith) reader.takeWords('WITHOUT', 'TIME', 'ZONE');
  const written = Number(modifier[0] ?? DEFAULT_PRECISION);
  const precision = Math.min(written, MAX_PRECISION);
  const notice =
    written > MAX_PRECISION
      ? `${name}(${String(written)}) stores microseconds here, and integers written to it count microseconds`
      : undefined;
  return { name: `${isWith ? 'TIMESTAMPTZ' : name}(${String(precision)})`, notice };
}

/** Returns PostgreSQL's type. Throws Refused for types without a counterpart. */
export function seriesColumnType(type: WrittenType): string {
  try {
    return postgresType(type.name, undefined);
  } catch (error) {
    throw error instanceof DatabaseError ? new Refused(error.message, error.sqlstate) : error;
  }
}

/**
 * Type names of the original database that PostgreSQL does not have. They are replaced only after PostgreSQL has
 * rejected them (42704), so that a user-defined domain of that name keeps its meaning.
 */
const TYPE_WORDS: ReadonlyMap<string, { readonly postgres: string; readonly keepsLength: boolean }> = new Map([
  ['STRING', { postgres: 'text', keepsLength: false }],
  ['NVARCHAR', { postgres: 'varchar', keepsLength: true }],
  ['BYTES', { postgres: 'bytea', keepsLength: false }],
  ['VARBYTES', { postgres: 'bytea', keepsLength: false }],
  ['VARBYTEA', { postgres: 'bytea', keepsLength: false }],
  ['BLOB', { postgres: 'bytea', keepsLength: false }],
  ['CLOB', { postgres: 'text', keepsLength: false }],
  ['INT64', { postgres: 'int8', keepsLength: false }],
  ['DOUBLE', { postgres: 'float8', keepsLength: false }],
]);

/** Replaces the names of `TYPE_WORDS` where a type is possible; returns `undefined` if there are none. */
export function replaceTypeNames(reader: TokenReader): string | undefined {
  let replaced = '';
  let copied = 0;
  reader.position = 0;
  const isTable = /^(?:CREATE|ALTER)$/.test(reader.keyword() ?? '');
  for (let index = 0; index < reader.tokens.length; index++) {
    reader.position = index;
    const type = TYPE_WORDS.get(reader.keyword() ?? '');
    const token = reader.current;
    if (type === undefined || token === undefined || reader.isWords('DOUBLE', 'PRECISION')) continue;
    if (!isTypePosition(reader, index, isTable)) continue;
    reader.position += 1;
    const length = readLength(reader);
    const end = reader.tokens[reader.position - 1]?.end ?? token.end;
    const sized = length !== undefined && (type.keepsLength || type.postgres === 'text');
    replaced += reader.text.slice(copied, token.start) + (sized ? `varchar(${length})` : type.postgres);
    copied = end;
    index = reader.position - 1;
  }
  return copied === 0 ? undefined : replaced + reader.text.slice(copied);
}

function readLength(reader: TokenReader): string | undefined {
  const start = reader.position;
  const modifier = readModifier(reader);
  if (modifier?.length === 1) return modifier[0];
  reader.position = start;
  return undefined;
}

/** Returns true if the token may be a type: after `::`, `CAST(… AS`, TYPE, or the name in a column definition. */
function isTypePosition(reader: TokenReader, index: number, isTable: boolean): boolean {
  reader.position = index - 1;
  const before = reader.source();
  reader.position = index;
  if (before === '::' || /^(?:as|type)$/i.test(before)) return true;
  if (!isTable) return false;
  const beforeName = reader.source(reader.tokens[index - 2]);
  return /^(?:\(|,|column|add|exists)$/i.test(beforeName);
}
