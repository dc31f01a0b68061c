import { HEADER_PLACES, placeHeaders } from '../../kafka/records/record-reader.ts';
import { LETTER_PREFIXES, LetterHeader, letterOrigin, type LetterContext, type LetterOrigin } from './dead-letter.ts';

const MOST_DIGITS = 15;
const [ZERO, NINE] = [0x30, 0x39];
const NO_BYTES = Buffer.alloc(0);

/** A letter where it lies in a block: of its headers those become text that are asked for. */
export class LetterView implements LetterContext {
  /** As `placeHeaders` writes them. */
  readonly places: number[] = [];
  bytes: Buffer = NO_BYTES;
  /** Of headers. */
  count = 0;

  /** Moves to a letter. `at`: where its headers begin; `undefined` when it has none. */
  move(bytes: Buffer, at: number | undefined): void {
    this.bytes = bytes;
    this.count = at === undefined ? 0 : placeHeaders(bytes, at, this.places);
  }

  /** Where the headers end. */
  get end(): number {
    return this.places[this.count * HEADER_PLACES] ?? 0;
  }

  /** Whether the record had headers before it became a letter. */
  get hasOwnHeaders(): boolean {
    for (let index = 0; index < this.count; index++) {
      if (!LETTER_PREFIXES.some((prefix) => this.#startsWith(index, prefix))) return true;
    }
    return false;
  }

  get connector(): string | undefined {
    return this.#text(LetterHeader.connector);
  }

  get stage(): string | undefined {
    return this.#text(LetterHeader.stage);
  }

  get exception(): string | undefined {
    return this.#text(LetterHeader.exception);
  }

  get message(): string | undefined {
    return this.#text(LetterHeader.message);
  }

  get sqlstate(): string | undefined {
    return this.#text(LetterHeader.sqlstate);
  }

  get table(): string | undefined {
    return this.#text(LetterHeader.table);
  }

  get column(): string | undefined {
    return this.#text(LetterHeader.column);
  }

  get origin(): LetterOrigin | undefined {
    return letterOrigin((key) => this.#text(key));
  }

  /** Whether it says which offset the record had; one without context headers does not say otherwise. */
  get hasNumericOffset(): boolean {
    const place = this.placeOf(LetterHeader.offset);
    if (place === undefined) return true;
    const [start, end] = place;
    return end > start && isNumber(this.bytes, start, end);
  }

  /** Start and end of the value of a header; `undefined` when there is none. */
  placeOf(key: string): readonly [start: number, end: number] | undefined {
    const at = this.#find(key);
    return at < 0 ? undefined : [this.places[at + 2] ?? 0, this.places[at + 3] ?? 0];
  }

  #text(key: string): string | undefined {
    const at = this.#find(key);
    const [start = 0, end = 0] = at < 0 ? [] : [this.places[at + 2], this.places[at + 3]];
    return end > start ? this.bytes.toString('utf8', start, end) : undefined;
  }

  /** As it stands last; -1: nowhere. */
  #find(key: string): number {
    const places = this.places;
    for (let at = (this.count - 1) * HEADER_PLACES; at >= 0; at -= HEADER_PLACES) {
      const start = places[at] ?? 0;
      if ((places[at + 1] ?? 0) - start === key.length && isAt(this.bytes, start, key)) return at;
    }
    return -1;
  }

  #startsWith(index: number, prefix: string): boolean {
    const start = this.places[index * HEADER_PLACES] ?? 0;
    const end = this.places[index * HEADER_PLACES + 1] ?? 0;
    return end - start >= prefix.length && isAt(this.bytes, start, prefix);
  }
}

/** Other texts mean that the record's place is not known. */
export function isNumber(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > MOST_DIGITS) return false;
  for (let at = start; at < end; at++) {
    const digit = bytes[at] ?? 0;
    if (digit < ZERO || digit > NINE) return false;
  }
  return true;
}

/** `text` is ASCII. From its end: names of headers begin alike. */
function isAt(bytes: Buffer, start: number, text: string): boolean {
  for (let index = text.length - 1; index >= 0; index--) {
    if (bytes[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
