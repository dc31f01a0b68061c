import { DatabaseError } from '../../../src/errors.ts';

/** How a documented type name maps to a PostgreSQL type. `length` is the meaning of the number in parentheses. */
interface TypeRule {
  readonly postgres: string;
  readonly length: 'none' | 'characters' | 'precision' | 'bits';
  /** Used if the type name has no length. */
  readonly defaultLength?: number;
}

const plain = (postgres: string): TypeRule => ({ postgres, length: 'none' });
const characters = (postgres: string): TypeRule => ({ postgres, length: 'characters' });
/**
 * The type for fixed-length characters. The original database returns their values unchanged, whereas PostgreSQL's
 * char(n) would pad them with blanks.
 */
const UNPADDED: TypeRule = { postgres: 'varchar', length: 'characters', defaultLength: 1 };

/**
 * Type names of the documentation, the original database and PostgreSQL. INT has 8 bytes, as in the original database;
 * in its time-series tables, INT has 4 bytes (column-types.ts).
 */
const TYPE_RULES: ReadonlyMap<string, TypeRule> = new Map([
  ['TIMESTAMPTZ', { postgres: 'timestamptz', length: 'precision' }],
  ['TIMESTAMP WITH TIME ZONE', { postgres: 'timestamptz', length: 'precision' }],
  ['TIMESTAMP', { postgres: 'timestamp', length: 'precision' }],
  ['TIMESTAMP WITHOUT TIME ZONE', { postgres: 'timestamp', length: 'precision' }],
  ['DATE', plain('date')],
  ['TIME', plain('time')],
  ['TIMETZ', plain('timetz')],
  ['INTERVAL', plain('interval')],
  ['INT2', plain('int2')],
  ['SMALLINT', plain('int2')],
  ['INT4', plain('int4')],
  ['INT8', plain('int8')],
  ['BIGINT', plain('int8')],
  ['INT', plain('int8')],
  ['INTEGER', plain('int8')],
  ['FLOAT4', plain('float4')],
  ['REAL', plain('float4')],
  ['FLOAT8', plain('float8')],
  ['FLOAT', plain('float8')],
  ['DOUBLE', plain('float8')],
  ['DOUBLE PRECISION', plain('float8')],
  ['DECIMAL', { postgres: 'numeric', length: 'precision' }],
  ['NUMERIC', { postgres: 'numeric', length: 'precision' }],
  ['BOOL', plain('bool')],
  ['BOOLEAN', plain('bool')],
  ['CHAR', UNPADDED],
  ['CHARACTER', UNPADDED],
  ['NCHAR', UNPADDED],
  ['BPCHAR', characters('char')],
  ['VARCHAR', characters('varchar')],
  ['CHARACTER VARYING', characters('varchar')],
  ['NVARCHAR', characters('varchar')],
  ['STRING', plain('text')],
  ['TEXT', plain('text')],
  ['CLOB', plain('text')],
  ['NAME', plain('text')],
  ['BYTES', plain('bytea')],
  ['BYTEA', plain('bytea')],
  ['VARBYTES', plain('bytea')],
  ['VARBYTEA', plain('bytea')],
  ['BLOB', plain('bytea')],
  ['BIT', { postgres: 'bit', length: 'bits' }],
  ['VARBIT', { postgres: 'varbit', length: 'bits' }],
  ['JSON', plain('json')],
  ['JSONB', plain('jsonb')],
  ['UUID', plain('uuid')],
  ['INET', plain('inet')],
]);

/** PostgreSQL's limit for varchar(n) and char(n); longer types are created without a length. */
const MAX_CHARACTERS = 10_485_760;

/** Matches `NAME`, `NAME(10)` and `NAME(10,2)`; arrays have a trailing `[]` or a leading `_`. */
const TYPE_TEXT = /^(_?)([A-Z][A-Z0-9]*(?: [A-Z0-9]+)*)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)\s*)?(\[\])?$/;
/** Length limit of type names in messages. */
const MAX_SHOWN = 100;

/**
 * Maps a documented type name to PostgreSQL's type. `length` counts characters and applies to string types only; the
 * documented lengths of other types are not used. Throws DatabaseError of scope `table` (42704) for unknown names.
 */
export function postgresType(typeName: string, length: number | undefined): string {
  const match = TYPE_TEXT.exec(typeName.trim().toUpperCase());
  const rule = match === null ? undefined : TYPE_RULES.get(match[2] ?? '');
  if (match === null || rule === undefined) {
    throw new DatabaseError(
      `unknown type ${shown(typeName)}; supported types are ${[...TYPE_RULES.keys()].join(', ')}`,
      { scope: 'table', sqlstate: '42704' },
    );
  }
  const [, underscore, , first, second, brackets] = match;
  return rule.postgres + modifier(rule, length, first, second) + (underscore === '_' || brackets === '[]' ? '[]' : '');
}

function shown(typeName: string): string {
  return JSON.stringify(typeName.length > MAX_SHOWN ? `${typeName.slice(0, MAX_SHOWN)}…` : typeName);
}

function modifier(rule: TypeRule, length: number | undefined, first: string | undefined, second: string | undefined) {
  switch (rule.length) {
    case 'none':
      return '';
    case 'characters': {
      const count = length ?? (first === undefined ? rule.defaultLength : Number(first));
      return count === undefined || count < 1 || count > MAX_CHARACTERS ? '' : `(${String(count)})`;
    }
    case 'bits':
      return first === undefined ? '' : `(${first})`;
    case 'precision':
      if (first === undefined) return '';
      // The original database supports 9 digits (nanoseconds), PostgreSQL 6.
      if (rule.postgres !== 'numeric') return `(${String(Math.min(Number(first), 6))})`;
      return second === undefined ? `(${first})` : `(${first},${second})`;
  }
}

/** Keywords of the grammar, which a type in the search path cannot shadow. */
const TYPE_KEYWORDS: ReadonlySet<string> = new Set([
  ...['varchar', 'char', 'bit', 'time', 'timestamp', 'interval', 'numeric'],
]);

/** Like `postgresType`, qualified with `pg_catalog` where the search path would otherwise apply. */
export function qualifiedType(typeName: string, length: number | undefined): string {
  const type = postgresType(typeName, length);
  const base = /^[a-z0-9]*/.exec(type)?.[0] ?? '';
  return TYPE_KEYWORDS.has(base) ? type : `pg_catalog.${type}`;
}
