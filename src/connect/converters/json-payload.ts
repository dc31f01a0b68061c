import { MS_PER_DAY } from '../../data/logical-values.ts';
import { LogicalName, type Schema, type SchemaType } from '../../data/schema.ts';
import { Struct, type ConnectValue } from '../../data/value.ts';
import { MAX_DAYS } from './json-reader.ts';

type PlainKind = 'string' | 'boolean' | 'int8' | 'int16' | 'int32' | 'int64' | 'float64' | 'date' | 'timestamp';

/** How each field of a flat struct is read, see `FlatStructReader`. */
interface FieldPlan {
  /** What stands before the value when the fields come in order and without blanks: `{"id":` or `,"id":`. */
  readonly before: string;
  readonly kind: PlainKind;
  /** What a JSON null becomes; `undefined` where null is an error. */
  readonly forNull: ConnectValue | undefined;
}

/** The value did not have the expected form. */
const UNUSUAL = Symbol('unusual');

const QUOTE = 0x22;
const MINUS = 0x2d;
const COMMA = 0x2c;
const CLOSE_BRACE = 0x7d;

/**
 * Reads payloads of one struct schema of plain fields without a tree in between: 0.9 µs a message instead of 4.5 µs with four fields.
 * It knows only the form in which Java and Sluice write them (all fields, in order, no blanks, no escapes, numbers in
 * range) and gives `undefined` for any other, which the general reader then takes.
 */
export class FlatStructReader {
  readonly #schema: Schema;
  readonly #plans: readonly FieldPlan[];
  #at = 0;

  private constructor(schema: Schema, plans: readonly FieldPlan[]) {
    this.#schema = schema;
    this.#plans = plans;
  }

  /** `undefined` when the schema is no struct, or has fields that are not plain. */
  static of(schema: Schema, replaceNullWithDefault: boolean): FlatStructReader | undefined {
    if (schema.type !== 'struct' || schema.fields.length === 0 || schema.name?.startsWith(LOGICAL) === true)
      return undefined;
    const plans: FieldPlan[] = [];
    for (const { name, index, schema: field } of schema.fields) {
      const kind = plainKind(field);
      if (kind === undefined) return undefined;
      if (JSON.stringify(name) !== `"${name}"`) return undefined;
      const byDefault = replaceNullWithDefault ? (field.defaultValue as ConnectValue | undefined) : undefined;
      const forNull = byDefault ?? (field.optional ? null : undefined);
      plans.push({ before: `${index === 0 ? '{' : ','}"${name}":`, kind, forNull });
    }
    return new FlatStructReader(schema, plans);
  }

  /** Index after the struct that was read last. */
  get end(): number {
    return this.#at;
  }

  read(text: string, from: number): Struct | undefined {
    const values = new Array<ConnectValue>(this.#plans.length);
    let at = from;
    for (let i = 0; i < this.#plans.length; i++) {
      const plan = this.#plans[i];
      if (plan === undefined || !text.startsWith(plan.before, at)) return undefined;
      this.#at = at + plan.before.length;
      const value = this.#value(text, plan);
      if (value === UNUSUAL) return undefined;
      values[i] = value;
      at = this.#at;
    }
    if (text.charCodeAt(at) !== CLOSE_BRACE) return undefined;
    this.#at = at + 1;
    return new Struct(this.#schema, values);
  }

  #value(text: string, { kind, forNull }: FieldPlan): ConnectValue | typeof UNUSUAL {
    const code = text.charCodeAt(this.#at);
    if (code === 0x6e) {
      if (forNull === undefined || !text.startsWith('null', this.#at)) return UNUSUAL;
      this.#at += 4;
      return forNull;
    }
    if (kind === 'string') return code === QUOTE ? this.#string(text) : UNUSUAL;
    if (kind === 'float64') return this.#double(text);
    if (kind === 'boolean') return this.#boolean(text);
    const number = this.#integer(text);
    return number === undefined ? UNUSUAL : integerOfKind(kind, number);
  }

  #string(text: string): string | typeof UNUSUAL {
    const start = this.#at + 1;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return text.slice(start, at);
      }
      // An escape, a control character, or what invalid UTF-8 decodes to.
      if (code === 0x5c || code < 0x20 || code === 0xfffd) return UNUSUAL;
    }
    return UNUSUAL;
  }

  /** At most 15 digits, so that a double holds them. */
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

  #double(text: string): number | typeof UNUSUAL {
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

function plainKind(schema: Schema): PlainKind | undefined {
  if (schema.name === LogicalName.timestamp) return 'timestamp';
  if (schema.name === LogicalName.date) return 'date';
  return PLAIN.has(schema.type) && schema.name?.startsWith(LOGICAL) !== true ? (schema.type as PlainKind) : undefined;
}

function integerOfKind(kind: PlainKind, number: number): ConnectValue | typeof UNUSUAL {
  switch (kind) {
    case 'int64':
      return BigInt(number);
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
