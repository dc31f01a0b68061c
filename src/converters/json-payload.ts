import { MS_PER_DAY } from '../data/logical-values.ts';
import { hashOf, RepeatedTexts, standsAt } from '../data/repeated-texts.ts';
import { LogicalName, type Schema, type SchemaType } from '../data/schema.ts';
import { POWERS_OF_TEN } from '../data/short-decimal.ts';
import { valueMismatch } from '../data/validate-value.ts';
import { Struct, type ConnectValue } from '../data/value.ts';
import { SluiceError } from '../errors.ts';
import { MAX_DAYS, readValue, type ReadSettings } from './json-reader.ts';
import { JsonNumber, JsonScanner } from '../json/json-tree.ts';

/** How a field is read; a field of kind `any` is read by the general reader. */
type FieldKind = 'string' | 'boolean' | 'int8' | 'int16' | 'int32' | 'int64' | 'float64' | 'date' | 'timestamp' | 'any';

/** Describes how `StructReader` reads a field. */
interface FieldPlan {
  /** The text before the value if the fields are in order and without spaces: `{"id":` or `,"id":`. */
  readonly before: string;
  readonly schema: Schema;
  readonly kind: FieldKind;
  /** The value of a JSON null; `undefined` if null is an error. */
  readonly forNull: ConnectValue | undefined;
}

/** The value does not have the expected form. */
const UNUSUAL = Symbol('unusual');

const QUOTE = 0x22;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;
const INVALID = 0xfffd;
const COMMA = 0x2c;
const POINT = 0x2e;
const CLOSE_BRACE = 0x7d;

/**
 * Reads payloads of one struct schema without building a JSON tree: a message with four plain fields takes 0.7 µs instead of
 * 4.5 µs. It reads only the form that Java and Sluice write (all fields, in order, without blanks between them) and returns
 * `undefined` for any other form, which the caller must pass to the general reader. Within a payload, the general reader reads
 * fields that are not plain and strings with escapes.
 */
export class StructReader {
  readonly #schema: Schema;
  readonly #plans: readonly FieldPlan[];
  readonly #settings: ReadSettings;
  /** Indexes of the int64 fields. */
  readonly #wide: readonly number[];
  readonly #repeated = new RepeatedTexts();
  #at = 0;

  private constructor(schema: Schema, plans: readonly FieldPlan[], settings: ReadSettings) {
    this.#schema = schema;
    this.#plans = plans;
    this.#settings = settings;
    this.#wide = plans.flatMap(({ kind }, index) => (kind === 'int64' ? [index] : []));
  }

  /** Returns `undefined` if the schema is not a plain struct with fields, or if a field name needs escapes in JSON. */
  static of(schema: Schema, settings: ReadSettings): StructReader | undefined {
    if (schema.type !== 'struct' || schema.fields.length === 0 || schema.name?.startsWith(LOGICAL) === true)
      return undefined;
    const plans: FieldPlan[] = [];
    for (const { name, index, schema: field } of schema.fields) {
      if (JSON.stringify(name) !== `"${name}"`) return undefined;
      const byDefault = settings.replaceNullWithDefault ? (field.defaultValue as ConnectValue | undefined) : undefined;
      const forNull = byDefault ?? (field.optional ? null : undefined);
      plans.push({ before: `${index === 0 ? '{' : ','}"${name}":`, schema: field, kind: kindOf(field), forNull });
    }
    return new StructReader(schema, plans, settings);
  }

  /** Position in the text after the struct that was read last. */
  get end(): number {
    return this.#at;
  }

  read(text: string, from: number): Struct | undefined {
    const values = new Array<ConnectValue>(this.#plans.length);
    if (!this.readInto(text, from, values)) return undefined;
    for (const index of this.#wide) {
      const value = values[index];
      if (typeof value === 'number') values[index] = BigInt(value);
    }
    return new Struct(this.#schema, values);
  }

  /**
   * Reads the field values into `values`, in order. An int64 is a number, but the default that replaces a null is a bigint.
   * Returns `false` if the payload has another form, which includes an int64 of more than 15 digits.
   */
  readInto(text: string, from: number, values: ConnectValue[]): boolean {
    let at = from;
    for (let i = 0; i < this.#plans.length; i++) {
      const plan = this.#plans[i];
      if (plan === undefined || !standsAt(text, plan.before, at)) return false;
      this.#at = at + plan.before.length;
      const value = this.#value(text, plan);
      if (value === UNUSUAL) return false;
      values[i] = value;
      at = this.#at;
    }
    if (text.charCodeAt(at) !== CLOSE_BRACE) return false;
    this.#at = at + 1;
    return true;
  }

  #value(text: string, { kind, schema, forNull }: FieldPlan): ConnectValue | typeof UNUSUAL {
    const code = text.charCodeAt(this.#at);
    if (code === 0x6e) {
      if (forNull === undefined || !text.startsWith('null', this.#at)) return UNUSUAL;
      this.#at += 4;
      return forNull;
    }
    switch (kind) {
      case 'string':
        return code === QUOTE ? this.#string(text, schema) : UNUSUAL;
      case 'float64':
        return this.#double(text);
      case 'boolean':
        return this.#boolean(text);
      case 'any':
        return this.#any(text, schema);
      default: {
        const number = this.#integer(text);
        return number === undefined ? UNUSUAL : integerOfKind(kind, number);
      }
    }
  }

  #string(text: string, schema: Schema): ConnectValue | typeof UNUSUAL {
    const start = this.#at + 1;
    let hash = 0;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return this.#repeated.of(text, start, at, hash);
      }
      if (code === BACKSLASH) return this.#any(text, schema);
      // This is a control character, or the replacement character for invalid UTF-8.
      if (code < 0x20 || code === INVALID) return UNUSUAL;
      hash = hashOf(hash, code);
    }
    return UNUSUAL;
  }

  #any(text: string, schema: Schema): ConnectValue | typeof UNUSUAL {
    try {
      const scanner = new JsonScanner(text, exactNumber, this.#at);
      const value = readValue(schema, scanner.readValue(), this.#settings);
      const isFine =
        !text.slice(this.#at, scanner.position).includes('\ufffd') && valueMismatch(schema, value) === undefined;
      if (!isFine) return UNUSUAL;
      this.#at = scanner.position;
      return value;
    } catch (error) {
      // The general reader reports the error with its position in the whole message.
      if (error instanceof SluiceError) return UNUSUAL;
      throw error;
    }
  }

  /** Reads an integer of at most 15 digits, which a double represents exactly. */
  #integer(text: string): number | undefined {
    let at = this.#at;
    const negative = text.charCodeAt(at) === MINUS;
    if (negative) at++;
    const first = at;
    let number = 0;
    let code = text.charCodeAt(at);
    while (code >= 0x30 && code <= 0x39) {
      number = number * 10 + code - 0x30;
      code = text.charCodeAt(++at);
    }
    if (at === first || at - first > 15 || (code !== COMMA && code !== CLOSE_BRACE)) return undefined;
    this.#at = at;
    return negative ? 0 - number : number;
  }

  /**
   * Reads up to 15 digits without an exponent, which is the usual form. A double represents the digits and the power of ten
   * exactly, so their quotient is rounded correctly.
   */
  #double(text: string): number | typeof UNUSUAL {
    let at = this.#at;
    const negative = text.charCodeAt(at) === MINUS;
    if (negative) at++;
    const first = at;
    let digits = 0;
    let code = text.charCodeAt(at);
    for (; code >= 0x30 && code <= 0x39; code = text.charCodeAt(++at)) digits = digits * 10 + code - 0x30;
    let count = at - first;
    let fraction = 0;
    if (code === POINT && count > 0) {
      const point = at;
      code = text.charCodeAt(++at);
      for (; code >= 0x30 && code <= 0x39; code = text.charCodeAt(++at)) digits = digits * 10 + code - 0x30;
      fraction = at - point - 1;
      count = fraction === 0 ? 0 : count + fraction;
    }
    if (count === 0 || count > 15 || (code !== COMMA && code !== CLOSE_BRACE)) return this.#longDouble(text);
    this.#at = at;
    const value = fraction === 0 ? digits : digits / (POWERS_OF_TEN[fraction] ?? 1);
    return negative ? 0 - value : value;
  }

  #longDouble(text: string): number | typeof UNUSUAL {
    DECIMAL.lastIndex = this.#at;
    const digits = DECIMAL.exec(text)?.[0];
    if (digits === undefined) return UNUSUAL;
    const end = this.#at + digits.length;
    const code = text.charCodeAt(end);
    if (code !== COMMA && code !== CLOSE_BRACE) return UNUSUAL;
    this.#at = end;
    return Number(digits) + 0;
  }

  #boolean(text: string): boolean | typeof UNUSUAL {
    const value = text.startsWith('true', this.#at);
    if (!value && !text.startsWith('false', this.#at)) return UNUSUAL;
    const end = this.#at + (value ? 4 : 5);
    const code = text.charCodeAt(end);
    if (code !== COMMA && code !== CLOSE_BRACE) return UNUSUAL;
    this.#at = end;
    return value;
  }
}

const DECIMAL = /-?(?:0|[1-9]\d{0,40})(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?/y;
const LOGICAL = 'org.apache.kafka.connect.data.';

const PLAIN: ReadonlySet<SchemaType> = new Set<SchemaType>([
  'string',
  'boolean',
  'int8',
  'int16',
  'int32',
  'int64',
  'float64',
]);

function kindOf(schema: Schema): FieldKind {
  if (schema.name === LogicalName.timestamp) return 'timestamp';
  if (schema.name === LogicalName.date) return 'date';
  return PLAIN.has(schema.type) && schema.name?.startsWith(LOGICAL) !== true ? (schema.type as FieldKind) : 'any';
}

function exactNumber(text: string, integral: boolean): JsonNumber {
  return new JsonNumber(text, integral);
}

function integerOfKind(kind: FieldKind, number: number): ConnectValue | typeof UNUSUAL {
  switch (kind) {
    case 'int64':
      return number;
    case 'timestamp':
      return new Date(number);
    case 'date':
      return Math.abs(number) <= MAX_DAYS ? new Date(number * MS_PER_DAY) : UNUSUAL;
    case 'int8':
      return number >= -0x80 && number < 0x80 ? number : UNUSUAL;
    case 'int16':
      return number >= -0x8000 && number < 0x8000 ? number : UNUSUAL;
    default:
      return (number | 0) === number ? number : UNUSUAL;
  }
}
