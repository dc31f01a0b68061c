/** How a column of the database is represented in json_db. */
export interface JsonDbType {
  /** Documented type name. */
  readonly name: string;
  /**
   * Bits for fixed-size types, characters for strings, digits for decimals; 0 if unlimited (docs/formats.md#json_db).
   */
  readonly length: number;
  /** How PostgreSQL's text format is converted to JSON. */
  readonly value: 'number' | 'bool' | 'time' | 'json' | 'string';
}

const FIXED: ReadonlyMap<string, JsonDbType> = new Map([
  ['smallint', { name: 'INT2', length: 16, value: 'number' }],
  ['integer', { name: 'INT4', length: 32, value: 'number' }],
  ['bigint', { name: 'INT8', length: 64, value: 'number' }],
  ['real', { name: 'FLOAT4', length: 32, value: 'number' }],
  ['double precision', { name: 'FLOAT8', length: 64, value: 'number' }],
  ['boolean', { name: 'BOOL', length: 1, value: 'bool' }],
  ['timestamp with time zone', { name: 'TIMESTAMPTZ', length: 64, value: 'time' }],
  ['timestamp without time zone', { name: 'TIMESTAMP', length: 64, value: 'time' }],
  ['date', { name: 'DATE', length: 32, value: 'string' }],
  ['time without time zone', { name: 'TIME', length: 64, value: 'string' }],
  ['time with time zone', { name: 'TIMETZ', length: 96, value: 'string' }],
  ['interval', { name: 'INTERVAL', length: 128, value: 'string' }],
  ['uuid', { name: 'UUID', length: 128, value: 'string' }],
  ['text', { name: 'TEXT', length: 0, value: 'string' }],
  ['bytea', { name: 'VARBYTES', length: 0, value: 'string' }],
  ['json', { name: 'JSON', length: 0, value: 'json' }],
  ['jsonb', { name: 'JSONB', length: 0, value: 'json' }],
]);

const BY_LENGTH: ReadonlyMap<string, Omit<JsonDbType, 'length'>> = new Map([
  ['character varying', { name: 'VARCHAR', value: 'string' }],
  ['character', { name: 'CHAR', value: 'string' }],
  ['numeric', { name: 'DECIMAL', value: 'number' }],
]);

/** Returns true if the type has a documented name. Values of other types are written in PostgreSQL's text format. */
export function isDocumentedType(postgresType: string): boolean {
  const base = withoutModifier(postgresType);
  return FIXED.has(base) || BY_LENGTH.has(base);
}

/** Maps a type, as printed by `format_type`. Types without a documented name are written as text in a VARCHAR. */
export function jsonDbType(postgresType: string): JsonDbType {
  const length = Number(/\((\d+)/.exec(postgresType)?.[1] ?? 0);
  const base = withoutModifier(postgresType);
  const named = BY_LENGTH.get(base);
  if (named !== undefined) return { ...named, length };
  return FIXED.get(base) ?? { name: 'VARCHAR', length: 0, value: 'string' };
}

/** Converts `timestamp(3) with time zone` to `timestamp with time zone`. */
function withoutModifier(postgresType: string): string {
  const open = postgresType.indexOf('(');
  const close = postgresType.indexOf(')', open);
  return open < 0 || close < 0 ? postgresType : postgresType.slice(0, open) + postgresType.slice(close + 1);
}
