import type { QueryResult } from '../../database/index.ts';

/** Converts a cell's text, as PostgreSQL prints it, to JSON. It is not called for NULL. */
export type CellWriter = (text: string) => string;

export interface CellRules {
  /** Whether 64-bit integers are strings (`?int64=string`), for clients whose numbers are not exact beyond 2^53. */
  readonly int64AsString: boolean;
}

const BOOL = 16;
const INT8 = 20;
const TIMESTAMP = 1114;
const TIMESTAMPTZ = 1184;
/** Type oids of int2, int4, oid, float4, float8 and numeric. */
const NUMBERS: ReadonlySet<number> = new Set([21, 23, 26, 700, 701, 1700]);

/**
 * Writes the cells of a column: numbers with the digits of the database, booleans, timestamps in RFC 3339, all other
 * types as text (docs/database-api.md#values-in-responses).
 */
export function cellWriter({ typeOid }: QueryResult['fields'][number], rules: CellRules): CellWriter {
  if (NUMBERS.has(typeOid)) return numberJson;
  switch (typeOid) {
    case BOOL:
      return (text) => (text === 't' ? 'true' : 'false');
    case INT8:
      return rules.int64AsString ? (text) => `"${text}"` : (text) => text;
    case TIMESTAMP:
    case TIMESTAMPTZ:
      return timestampJson;
    default:
      return textJson;
  }
}

/** Writes the cells of a column in CSV. The text is the same as in JSON, without its quotes and escapes. */
export function cellText({ typeOid }: QueryResult['fields'][number]): (text: string) => string {
  switch (typeOid) {
    case BOOL:
      return (text) => (text === 't' ? 'true' : 'false');
    case TIMESTAMP:
    case TIMESTAMPTZ:
      return (text) => timestampJson(text).slice(1, -1);
    default:
      return (text) => text;
  }
}

const N = 0x4e;
const I = 0x49;

/** Keeps the digits of a number. NaN and infinities become strings, because JSON has no numbers for them. */
function numberJson(text: string): string {
  const first = text.charCodeAt(0);
  return first === N || first === I || (first === 0x2d && text.charCodeAt(1) === I) ? `"${text}"` : text;
}

/** Text without characters that must be escaped, which is the usual case. */
const PLAIN = /^[^"\\\u0000-\u001f\ud800-\udfff]*$/;

function textJson(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

const BLANK = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
/** Length of an offset with minutes, such as `+05:30`. */
const MINUTES_OFFSET = 6;

/**
 * Converts `2024-05-06 07:08:09.25+08` to `"2024-05-06T07:08:09.25+08:00"`. The offset of UTC is `Z`, also for a timestamp without
 * time zone, as in the example of the API's documentation. Infinities and years before Christ are not changed, because RFC 3339
 * cannot represent them. Years of five digits are formatted in the same way, although RFC 3339 does not allow them.
 */
function timestampJson(text: string): string {
  if (text.charCodeAt(10) !== BLANK || text.endsWith('BC')) return otherTimestamp(text);
  let sign = text.length - 3;
  // The offset consists of hours and optionally minutes and seconds.
  while (sign > 18 && text.charCodeAt(sign) !== PLUS && text.charCodeAt(sign) !== MINUS) sign -= 3;
  const date = text.slice(0, 10);
  if (sign <= 18) return `"${date}T${text.slice(11)}Z"`;
  const offset = text.slice(sign);
  if (offset.length > MINUTES_OFFSET) return utcJson(date, text.slice(11, sign), offset);
  if (offset === '+00') return `"${date}T${text.slice(11, sign)}Z"`;
  return `"${date}T${text.slice(11, sign)}${offset.length === 3 ? `${offset}:00` : offset}"`;
}

/** Local mean times have offsets with seconds. They are converted to UTC, because RFC 3339 offsets have no seconds. */
function utcJson(date: string, time: string, offset: string): string {
  const [hours = 0, minutes = 0, seconds = 0] = offset.slice(1).split(':').map(Number);
  const behind = ((hours * 60 + minutes) * 60 + seconds) * (offset.startsWith('-') ? -1000 : 1000);
  const [whole = '', fraction] = time.split('.');
  const utc = new Date(Date.parse(`${date}T${whole}Z`) - behind).toISOString();
  return `"${utc.slice(0, 19)}${fraction === undefined ? '' : `.${fraction}`}Z"`;
}

/** Handles timestamps whose blank is not at the usual position, because their year has more than four digits. */
function otherTimestamp(text: string): string {
  const match = /^(\d{5,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d(?::\d\d)*)?$/.exec(text);
  if (match === null) return textJson(text);
  const [, date = '', time = '', offset = '+00'] = match;
  return `"${date}T${time}${offset === '+00' ? 'Z' : offset.length === 3 ? `${offset}:00` : offset}"`;
}
