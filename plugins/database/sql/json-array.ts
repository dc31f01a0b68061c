import { type ColumnTarget, Refusal } from './column-type.ts';

/** bytea[]: bytes are Base64 in JSON, which the server would take for the bytes themselves. */
const BYTEA_ARRAY_OID = 1001;
/** A string, an object's or array's bracket, or anything else up to the next of them. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*\\?"?|[[\]{},:]|[^\s"[\]{},:]+/gs;

/**
 * A JSON array as PostgreSQL's array literal, for columns of array types: `["a",null,[1]]` is `{"a",NULL,{1}}`, numbers
 * digit for digit; an object is an element of JSON text.
 */
export function jsonToArrayLiteral(json: string, target: Pick<ColumnTarget, 'typeOid'>): string | Refusal {
  if (!json.trimStart().startsWith('[')) return new Refusal('42804', 'the value is no array, and the column is one');
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
