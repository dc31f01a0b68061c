import { type ColumnTarget, Refusal } from './column-type.ts';

/** OID of bytea[]. JSON contains bytes in Base64, which the server would store literally. */
const BYTEA_ARRAY_OID = 1001;
/** A string, a punctuation character, or a run of other characters. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*\\?"?|[[\]{},:]|[^\s"[\]{},:]+/gs;

/**
 * Converts a JSON array to a PostgreSQL array literal: `["a",null,[1]]` becomes `{"a",NULL,{1}}`. Numbers keep their
 * digits, and objects become elements of JSON text.
 */
export function jsonToArrayLiteral(json: string, target: Pick<ColumnTarget, 'typeOid'>): string | Refusal {
  if (!json.trimStart().startsWith('['))
    return new Refusal('42804', 'the value is not an array, but the column type is');
  if (target.typeOid === BYTEA_ARRAY_OID) return new Refusal('42804', 'arrays of bytes do not fit a bytea[] column');
  let literal = '';
  let object = '';
  let depth = 0;
  for (const [token] of json.matchAll(TOKEN)) {
    if (depth > 0 || token === '{') {
      object += token;
      depth += token === '{' ? 1 : token === '}' ? -1 : 0;
      if (depth > 0) continue;
      literal += quoted(object);
      object = '';
    } else {
      literal += elementOf(token);
    }
  }
  return literal;
}

function elementOf(token: string): string {
  if (token.startsWith('"')) return quoted(JSON.parse(token) as string);
  switch (token) {
    case '[':
      return '{';
    case ']':
      return '}';
    case 'null':
      return 'NULL';
    default:
      return token;
  }
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
