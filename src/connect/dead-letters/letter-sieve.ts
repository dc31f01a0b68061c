import type { ConsumedBlock } from '../../kafka/api.ts';
import { deadLetter } from './dead-letter.ts';
import type { LetterPick } from './letter-selection.ts';
import { LetterView } from './letter-view.ts';

/** What was found out about the headers of a letter. */
export interface LetterVerdict {
  readonly isPicked: boolean;
  /** The record had headers before it became a letter. */
  readonly hasOwnHeaders: boolean;
}

/** Headers that were looked at, with the place in them where letters that are else alike differ: the offset of the record. */
interface KnownHeaders extends LetterVerdict {
  readonly bytes: Buffer;
  /** Digits. */
  readonly offsetStart: number;
  readonly offsetEnd: number;
}

const MAX_KNOWN = 8;
const MAX_KNOWN_BYTES = 65_536;
const MOST_DIGITS = 15;
const [ZERO, NINE] = [0x30, 0x39];
export const NOT_PICKED: LetterVerdict = { isPicked: false, hasOwnHeaders: false };

/**
 * Tells of the letters of a block whether they are selected. Most letters that follow one another have failed alike, and so have the
 * same headers but for the offset: these are compared, and not read again.
 */
export class LetterSieve {
  readonly #pick: LetterPick;
  readonly #view = new LetterView();
  /** The one that was met last is the first. */
  readonly #known: KnownHeaders[] = [];
  #withoutHeaders: LetterVerdict | undefined;

  constructor(pick: LetterPick) {
    this.#pick = pick;
  }

  look(block: ConsumedBlock, index: number): LetterVerdict {
    const { partition, offsets, timestamps, headersAt } = block;
    const position = { partition, offset: offsets[index] ?? -1, timestamp: timestamps[index] ?? -1 };
    if (!this.#pick.hasPosition(position)) return NOT_PICKED;
    const at = headersAt?.[index];
    if (at !== undefined) return this.#alike(block.bytes, at) ?? this.#read(block, at);
    if (!block.hasHeaders || headersAt !== undefined) return (this.#withoutHeaders ??= this.#verdict(block, undefined));
    const letter = deadLetter(block.record(index));
    return { isPicked: this.#pick.hasContext(letter), hasOwnHeaders: letter.headers.length > 0 };
  }

  #alike(bytes: Buffer, at: number): LetterVerdict | undefined {
    const known = this.#known;
    for (let index = 0; index < known.length; index++) {
      const each = known[index];
      if (each === undefined || !isAlike(each, bytes, at)) continue;
      if (index > 0) {
        known.splice(index, 1);
        known.unshift(each);
      }
      return each;
    }
    return undefined;
  }

  #read(block: ConsumedBlock, at: number): LetterVerdict {
    const verdict = this.#verdict(block, at);
    const { end, offsetPlace: [start, behind] = [end, end] } = this.#view;
    if (end - at > MAX_KNOWN_BYTES || !isNumber(block.bytes, start, behind)) return verdict;
    if (this.#known.length === MAX_KNOWN) this.#known.pop();
    const bytes = Buffer.from(block.bytes.subarray(at, end));
    this.#known.unshift({ ...verdict, bytes, offsetStart: start - at, offsetEnd: behind - at });
    return verdict;
  }

  #verdict(block: ConsumedBlock, at: number | undefined): LetterVerdict {
    this.#view.move(block, at);
    return { isPicked: this.#pick.hasContext(this.#view), hasOwnHeaders: this.#view.hasOwnHeaders };
  }
}

function isAlike({ bytes: known, offsetStart, offsetEnd }: KnownHeaders, bytes: Buffer, at: number): boolean {
  const { length } = known;
  return (
    at + length <= bytes.length &&
    known.compare(bytes, at, at + offsetStart, 0, offsetStart) === 0 &&
    known.compare(bytes, at + offsetEnd, at + length, offsetEnd, length) === 0 &&
    isNumber(bytes, at + offsetStart, at + offsetEnd)
  );
}

/** Other texts mean that the record's place is not known. */
function isNumber(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > MOST_DIGITS) return false;
  for (let at = start; at < end; at++) {
    const digit = bytes[at] ?? 0;
    if (digit < ZERO || digit > NINE) return false;
  }
  return true;
}
