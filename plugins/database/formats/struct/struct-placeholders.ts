import { LogicalName, type Schema } from '../../../../src/data/schema.ts';
import type { ConnectValue } from '../../../../src/data/value.ts';
import { nameUuid } from './name-uuid.ts';
import type { Present } from './struct-cells.ts';

/** Returns true if the value is a placeholder: the source does not know the value, which has not changed. */
export type IsPlaceholder = (value: Present) => boolean;

/**
 * Recognizes Debezium's placeholder for large values that an update did not change, and that Debezium does not receive.
 * Its form depends on the column (Debezium documentation, "Toasted values"):
 * - the text, also in Base64 or in hexadecimal digits, or the bytes of the text;
 * - a map from the text to itself, also as JSON;
 * - a list whose only element is the text in one of these forms, its bytes, or the UUID of the text as a name;
 * - a list of the bytes as numbers.
 */
export class Placeholders {
  readonly #text: string;
  readonly #texts: readonly string[];
  readonly #bytes: Buffer;
  readonly #uuid: string;

  constructor(text: string) {
    this.#text = text;
    this.#bytes = Buffer.from(text);
    const urlSafe = this.#bytes.toString('base64url');
    const encodings = [this.#bytes.toString('base64'), urlSafe.padEnd(4 * Math.ceil(urlSafe.length / 4), '=')];
    this.#texts = [text, ...encodings, this.#bytes.toString('hex'), JSON.stringify({ [text]: text })];
    this.#uuid = nameUuid(text);
  }

  /** Returns a test for placeholders among the values of a schema; `undefined` if its type has none. */
  testOf({ type, name }: Schema): IsPlaceholder | undefined {
    if (this.#text === '') return undefined;
    switch (type) {
      case 'string':
        return (value) => this.#isText(value);
      case 'bytes':
        return name === LogicalName.decimal ? undefined : (value) => this.#isBytes(value);
      case 'array':
        return (value) => Array.isArray(value) && this.#isList(value as readonly ConnectValue[]);
      case 'map':
        return (value) => value instanceof Map && value.size === 1 && value.get(this.#text) === this.#text;
      default:
        return undefined;
    }
  }

  #isText(value: ConnectValue): boolean {
    // Compares the lengths first, because most values are shorter than all forms of the placeholder.
    return typeof value === 'string' && value.length >= this.#text.length && this.#texts.includes(value);
  }

  #isBytes(value: ConnectValue): boolean {
    return value instanceof Uint8Array && value.length === this.#bytes.length && this.#bytes.equals(value);
  }

  #isList(values: readonly ConnectValue[]): boolean {
    const [first = null] = values;
    if (values.length === 1) return this.#isText(first) || this.#isBytes(first) || first === this.#uuid;
    const bytes = this.#bytes;
    return values.length === bytes.length && values.every((value, index) => isNumber(value, bytes[index]));
  }
}

function isNumber(value: ConnectValue, number: number | undefined): boolean {
  return (typeof value === 'number' || typeof value === 'bigint') && Number(value) === number;
}
