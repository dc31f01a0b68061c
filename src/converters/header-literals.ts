import { parseTemporal, type TemporalKind } from '../java/java-date-text.ts';
import { latinDigits, parseFloat32 } from '../java/java-number-text.ts';
import { javaTrim } from '../java/java-text.ts';
import { parseDecimal } from '../data/logical-values.ts';
import { LogicalName, Schema, STRING } from '../data/schema.ts';
import { TypedNumber, type ConnectValue } from '../data/value.ts';
import type { SchemaAndValue } from '../connect/api.ts';
import { alignedTo, mergedSchema, NotAligned, plainValue } from './header-alignment.ts';
import { HeaderTokens } from './header-tokens.ts';

/**
 * The value of a header's text with its schema; `null` for the literal null. Numbers narrower than 64 bits are TypedNumbers
 * until the schema of the whole value is known.
 */
type Literal = { readonly schema: Schema; readonly value: ConnectValue } | null;

/** The text is not a valid list or map; the caller treats it as a string. */
class NotALiteral extends Error {}

/** Limit of keys, elements and values in one text. Parsing that many blocks the event loop for tens of milliseconds. */
const MAX_LITERALS = 10_000;

class TooManyLiterals extends Error {}

const BOOLEAN = new Schema('boolean');
const TEMPORAL: Readonly<Record<TemporalKind, Schema>> = {
  date: new Schema('int32', { name: LogicalName.date, version: 1 }),
  time: new Schema('int32', { name: LogicalName.time, version: 1 }),
  timestamp: new Schema('int64', { name: LogicalName.timestamp, version: 1 }),
};

const TEMPORAL_SCHEMAS: ReadonlySet<Schema> = new Set(Object.values(TEMPORAL));

const NO_LITERAL: SchemaAndValue = { schema: null, value: null };

/**
 * Infers the type of a header's text (org.apache.kafka.connect.data.Values.parseString): null, true, false, the
 * smallest number type that fits, ISO dates and times, `[…]` and `{…}`. Any other text stays a string. Text after a
 * number, date, time, list or map is ignored. Unlike in Java, a text with more than 10,000 keys, elements and values
 * stays a string.
 */
export function parseHeaderText(text: string): SchemaAndValue {
  if (text === '') return { schema: STRING, value: text };
  try {
    const literal = readLiteral(new HeaderTokens(text), false);
    return literal === null ? NO_LITERAL : { schema: literal.schema, value: plainValue(literal.schema, literal.value) };
  } catch (error) {
    if (error instanceof TooManyLiterals) return { schema: STRING, value: text };
    throw error;
  }
}

function readLiteral(tokens: HeaderTokens, embedded: boolean): Literal {
  if (!tokens.hasNext()) return null;
  if (++tokens.literals > MAX_LITERALS) throw new TooManyLiterals();
  if (embedded && tokens.take('"')) return readQuoted(tokens);
  if (takeWord(tokens, 'null', embedded)) return null;
  if (takeWord(tokens, 'true', embedded)) return { schema: BOOLEAN, value: true };
  if (takeWord(tokens, 'false', embedded)) return { schema: BOOLEAN, value: false };
  const start = tokens.mark();
  try {
    if (tokens.take('[')) return readArray(tokens);
    if (tokens.take('{')) return readMap(tokens);
  } catch (error) {
    if (!(error instanceof NotALiteral) && !(error instanceof NotAligned)) throw error;
    tokens.rewindTo(start);
  }
  return readToken(tokens, embedded);
}

/** A word is recognized inside a list or map, or if it is the whole text: `true}` is a string. */
function takeWord(tokens: HeaderTokens, word: string, embedded: boolean): boolean {
  const start = tokens.mark();
  if (tokens.take(word) && (embedded || !tokens.hasNext())) return true;
  tokens.rewindTo(start);
  return false;
}

/** Reads a quoted string, or a date or time if the string contains one. Escape sequences are not replaced. */
function readQuoted(tokens: HeaderTokens): Literal {
  let content = '';
  let [from, end] = [0, 0];
  while (tokens.hasNext() && !tokens.take('"')) {
    const start = tokens.mark();
    // `take` may have skipped blanks; they are not part of the string.
    if (start !== end) {
      content += tokens.text.slice(from, end);
      from = start;
    }
    tokens.skip();
    end = tokens.mark();
  }
  content += tokens.text.slice(from, end);
  const temporal = startsWithDigit(javaTrim(content)) ? readLiteral(new HeaderTokens(content), false) : null;
  return temporal !== null && TEMPORAL_SCHEMAS.has(temporal.schema) ? temporal : { schema: STRING, value: content };
}

function readArray(tokens: HeaderTokens): Literal {
  const values: ConnectValue[] = [];
  const schemas: Schema[] = [];
  while (tokens.hasNext()) {
    if (tokens.take(']')) {
      const common = mergedSchema(schemas);
      if (common === undefined) return { schema: new Schema('array'), value: values };
      return { schema: Schema.array(common), value: values.map((value) => alignedTo(common, value)) };
    }
    if (tokens.take(',')) throw new NotALiteral('an empty element');
    const element = readLiteral(tokens, true);
    values.push(element?.value ?? null);
    if (element !== null && element.schema !== schemas.at(-1)) schemas.push(element.schema);
    const mark = tokens.mark();
    if (tokens.take(']')) tokens.rewindTo(mark);
    else if (!tokens.take(',')) throw new NotALiteral('a missing comma');
  }
  throw new NotALiteral('a missing ]');
}

function readMap(tokens: HeaderTokens): Literal {
  const entries: [ConnectValue, ConnectValue][] = [];
  const keySchemas: Schema[] = [];
  const valueSchemas: Schema[] = [];
  while (tokens.hasNext()) {
    if (tokens.take('}')) return mapOf(entries, mergedSchema(keySchemas), mergedSchema(valueSchemas));
    if (tokens.take(',')) throw new NotALiteral('an empty entry');
    const key = readLiteral(tokens, true);
    if (key === null) throw new NotALiteral('a null key');
    if (!tokens.take(':')) throw new NotALiteral('a missing colon');
    const value = readLiteral(tokens, true);
    entries.push([key.value, value?.value ?? null]);
    tokens.take(',');
    if (key.schema !== keySchemas.at(-1)) keySchemas.push(key.schema);
    if (value !== null && value.schema !== valueSchemas.at(-1)) valueSchemas.push(value.schema);
  }
  throw new NotALiteral('a missing }');
}

function mapOf(entries: [ConnectValue, ConnectValue][], keys: Schema | undefined, values: Schema | undefined): Literal {
  const parts = {
    ...(keys === undefined ? {} : { keySchema: keys }),
    ...(keys === undefined || values === undefined ? {} : { valueSchema: values }),
  };
  const aligned = entries.map(([key, value]): [ConnectValue, ConnectValue] => [
    keys === undefined ? key : alignedTo(keys, key),
    keys === undefined || values === undefined ? value : alignedTo(values, value),
  ]);
  return { schema: new Schema('map', {}, parts), value: new Map(aligned) };
}

function readToken(tokens: HeaderTokens, embedded: boolean): Literal {
  const token = tokens.next();
  const text = javaTrim(token);
  if (text === '') return { schema: STRING, value: token };
  const isDigit = startsWithDigit(text);
  if (isDigit) {
    const temporal = mayBeTemporal(text, tokens) ? readTemporal(tokens, text) : null;
    if (temporal !== null) return temporal;
  }
  if (isDigit || text.startsWith('+') || text.startsWith('-')) {
    const number = readNumber(latinDigits(text));
    if (number !== null) return number;
  }
  if (embedded) throw new NotALiteral('no literal');
  return { schema: STRING, value: tokens.text };
}

const [ZERO, NINE, FIRST_OF_OTHER_SCRIPTS] = [48, 57, 128];

function startsWithDigit(text: string): boolean {
  const code = text.charCodeAt(0);
  return code >= FIRST_OF_OTHER_SCRIPTS ? /^\p{Nd}/u.test(text) : code >= ZERO && code <= NINE;
}

/** The first token of a date has a hyphen. The first token of a time ends at a colon or contains an escaped colon. */
function mayBeTemporal(token: string, tokens: HeaderTokens): boolean {
  return tokens.isBefore(':') || token.includes('-') || token.includes('\\');
}

/** Twice the length of a timestamp, because a backslash may precede each character. */
const MAX_TEMPORAL_LENGTH = 48;

/** A time contains two colons, which are delimiters, so a time or timestamp may consist of five tokens. */
function readTemporal(tokens: HeaderTokens, token: string): Literal {
  const mark = tokens.mark();
  const rest = tokens.nextText(4, MAX_TEMPORAL_LENGTH);
  const whole = rest === undefined ? undefined : parseTemporal((token + rest).replaceAll('\\:', ':'));
  if (whole === undefined) tokens.rewindTo(mark);
  const found = whole ?? parseTemporal(token.replaceAll('\\:', ':'));
  return found === undefined ? null : { schema: TEMPORAL[found.kind], value: found.date };
}

const INTEGERS: readonly { readonly type: TypedNumber['type']; readonly bound: number; readonly schema: Schema }[] = [
  { type: 'int8', bound: 2 ** 7, schema: new Schema('int8') },
  { type: 'int16', bound: 2 ** 15, schema: new Schema('int16') },
  { type: 'int32', bound: 2 ** 31, schema: new Schema('int32') },
];
const SMALL_INTEGER = /^[+-]?\d{1,9}$/;
const INT64 = new Schema('int64');
const FLOAT32 = new Schema('float32');
const FLOAT64 = new Schema('float64');

/**
 * Uses the smallest integer type that represents the number exactly. Otherwise a number with a nonzero scale gets the smallest
 * float type whose range includes it, although digits may be lost. All other numbers become decimals.
 */
function readNumber(text: string): Literal {
  if (SMALL_INTEGER.test(text)) return narrowInteger(Number(text)) ?? null;
  const decimal = parseDecimal(text);
  if (decimal === undefined) return null;
  const integer = exactInteger(decimal.unscaled, decimal.scale);
  if (integer !== undefined) return narrowInteger(Number(integer)) ?? { schema: INT64, value: integer };
  if (decimal.scale !== 0) {
    const float = parseFloat32(text) + 0;
    if (Number.isFinite(float)) return { schema: FLOAT32, value: new TypedNumber('float32', float) };
    const double = Number(text);
    if (Number.isFinite(double)) return { schema: FLOAT64, value: double };
  }
  const parameters = new Map([['scale', String(decimal.scale)]]);
  return { schema: new Schema('bytes', { name: LogicalName.decimal, version: 1, parameters }), value: decimal };
}

/** Uses the smallest type of up to 32 bits in which the number fits; -0 becomes 0. */
function narrowInteger(value: number): Literal | undefined {
  for (const { type, bound, schema } of INTEGERS) {
    if (value >= -bound && value < bound) return { schema, value: new TypedNumber(type, value + 0) };
  }
  return undefined;
}

/** A 64-bit integer has at most 19 digits; a value with more trailing zeros is out of range and need not be computed. */
const MAX_INT64_DIGITS = 19;

function exactInteger(unscaled: bigint, scale: number): bigint | undefined {
  if (unscaled === 0n) return 0n;
  if (scale < -MAX_INT64_DIGITS) return undefined;
  if (scale <= 0) return fitting(unscaled * 10n ** BigInt(-scale));
  const digits = unscaled.toString();
  return scale < digits.length && /^0+$/.test(digits.slice(-scale))
    ? fitting(BigInt(digits.slice(0, -scale)))
    : undefined;
}

function fitting(integer: bigint): bigint | undefined {
  return BigInt.asIntN(64, integer) === integer ? integer : undefined;
}
