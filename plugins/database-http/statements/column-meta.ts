import { anyOf, arrayOf, NUMBER, TEXT, withKeywords } from '../../../src/index.ts';
import type { QueryResult } from '../../database/index.ts';

type Field = QueryResult['fields'][number];

/** Length of a type without a declared length. It is the largest 64-bit integer, which exceeds a JavaScript number. */
const NO_LENGTH = '9223372036854775807';

/**
 * Type names and lengths in bytes by type oid (docs/database-api.md#types-and-lengths-of-columns); `n` is the declared
 * length, and `precision` the declared precision.
 */
const TYPES: ReadonlyMap<number, readonly [name: string, length: string]> = new Map([
  [16, ['BOOL', '1']],
  [17, ['BYTES', NO_LENGTH]],
  [18, ['CHAR', '1']],
  [19, ['NAME', NO_LENGTH]],
  [20, ['INT8', '8']],
  [21, ['INT2', '2']],
  [23, ['INT4', '4']],
  [25, ['TEXT', NO_LENGTH]],
  [26, ['OID', '4']],
  [114, ['JSON', '8']],
  [700, ['FLOAT4', '4']],
  [701, ['FLOAT8', '8']],
  [869, ['INET', '8']],
  [1000, ['_BOOL', '8']],
  [1005, ['_INT2', '8']],
  [1007, ['_INT4', '8']],
  [1009, ['_TEXT', NO_LENGTH]],
  [1014, ['_CHAR', NO_LENGTH]],
  [1015, ['_VARCHAR', NO_LENGTH]],
  [1016, ['_INT8', '8']],
  [1021, ['_FLOAT4', '8']],
  [1022, ['_FLOAT8', '8']],
  [1042, ['CHAR', 'n']],
  [1043, ['VARCHAR', 'n']],
  [1082, ['DATE', '8']],
  [1083, ['TIME', '8']],
  [1114, ['TIMESTAMP', '8']],
  [1184, ['TIMESTAMPTZ', '8']],
  [1186, ['INTERVAL', '8']],
  [1266, ['TIMETZ', '8']],
  [1560, ['BIT', '8']],
  [1562, ['VARBIT', '8']],
  [1700, ['NUMERIC', 'precision']],
  [2950, ['UUID', '8']],
  [3802, ['JSONB', '8']],
]);

/** Schema of a column in an answer. */
export const COLUMN = withKeywords(arrayOf(anyOf(TEXT, NUMBER)), {
  minItems: 3,
  maxItems: 3,
  description: 'Name, type and length in bytes',
});

/** `[name, type, length]` as JSON. Values of unknown types are printed as text, so their type name is TEXT. */
export function columnMeta({ name, typeOid, typeModifier }: Field): string {
  const [typeName, length] = TYPES.get(typeOid) ?? ['TEXT', NO_LENGTH];
  return `[${JSON.stringify(name)},"${typeName}",${lengthText(length, typeModifier)}]`;
}

/** The type modifier of varchar and char is the length plus 4. For numeric, it is the precision in the upper 16 bits, plus 4. */
function lengthText(length: string, typeModifier: number): string {
  if (length === 'n') return typeModifier < 4 ? NO_LENGTH : String(typeModifier - 4);
  if (length === 'precision') return typeModifier < 4 ? '0' : String(((typeModifier - 4) >> 16) & 0xffff);
  return length;
}
