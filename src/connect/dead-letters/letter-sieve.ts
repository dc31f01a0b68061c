import type { ConsumedBlock } from '../../kafka/api.ts';
import { deadLetter, LetterHeader } from './dead-letter.ts';
import { LetterPattern } from './letter-pattern.ts';
import type { LetterPick } from './letter-selection.ts';
import { isNumber, LetterView } from './letter-view.ts';

/** What was found out about the headers of a letter. */
export interface LetterVerdict {
  readonly isPicked: boolean;
  /** The record had headers before it became a letter. */
  readonly hasOwnHeaders: boolean;
}

interface KnownLetter extends LetterVerdict {
  readonly pattern: LetterPattern;
}

/** Headers as they were, with the place of the only text in which the next letter differs as a rule: the offset of the record. */
interface LastHeaders extends LetterVerdict {
  readonly bytes: Buffer;
  readonly offsetStart: number;
  readonly offsetEnd: number;
}

const MAX_KNOWN = 4;
const MAX_KNOWN_BYTES = 65_536;
/** Letters that differ from the one before, after which such a one is not kept any more: copying each costs more than it saves. */
const MAX_DIFFERENT = 100;
export const NOT_PICKED: LetterVerdict = { isPicked: false, hasOwnHeaders: false };

/**
 * Tells of the letters of a block whether they are selected. Letters that follow one another have failed alike as a rule: they have
 * the same headers but for the offset, or for values that the selection does not ask for, and are compared instead of read.
 */
export class LetterSieve {
  readonly #pick: LetterPick;
  readonly #view = new LetterView();
  /** The one that was met last is the first. */
  readonly #known: KnownLetter[] = [];
  #last: LastHeaders | undefined;
  #different = 0;
  #withoutHeaders: LetterVerdict | undefined;

  constructor(pick: LetterPick) {
    this.#pick = pick;
  }

  look(block: ConsumedBlock, index: number): LetterVerdict {
    const { partition, offsets, timestamps, headersAt } = block;
    const position = { partition, offset: offsets[index] ?? -1, timestamp: timestamps[index] ?? -1 };
    if (!this.#pick.hasPosition(position)) return NOT_PICKED;
    const at = headersAt?.[index];
    if (at !== undefined) return this.#lookAt(block.bytes, at);
    if (!block.hasHeaders || headersAt !== undefined) return (this.#withoutHeaders ??= this.#verdict(block.bytes));
    const letter = deadLetter(block.record(index));
    return { isPicked: this.#pick.hasContext(letter), hasOwnHeaders: letter.headers.length > 0 };
  }

  #lookAt(bytes: Buffer, at: number): LetterVerdict {
    const last = this.#last;
    if (last !== undefined && isAlike(last, bytes, at)) {
      this.#different = 0;
      return last;
    }
    this.#view.move(bytes, at);
    // Else what is said of its origin is not what is said of others.
    if (!this.#view.hasNumericOffset || this.#view.end - at > MAX_KNOWN_BYTES) return this.#verdict(bytes, at);
    const known = this.#knownPattern();
    const verdict = known ?? this.#verdict(bytes, at);
    if (known === undefined) this.#learn(verdict);
    if (++this.#different < MAX_DIFFERENT) this.#keep(verdict, at);
    return verdict;
  }

  #knownPattern(): LetterVerdict | undefined {
    const known = this.#known;
    const index = known.findIndex(({ pattern }) => pattern.matches(this.#view));
    const found = known[index];
    if (found !== undefined && index > 0) {
      known.splice(index, 1);
      known.unshift(found);
    }
    return found;
  }

  #learn(verdict: LetterVerdict): void {
    if (this.#known.length === MAX_KNOWN) this.#known.pop();
    const matters = this.#pick.mattersFor(this.#view);
    this.#known.unshift({ ...verdict, pattern: new LetterPattern(this.#view, matters) });
  }

  #keep({ isPicked, hasOwnHeaders }: LetterVerdict, at: number): void {
    const { bytes, end } = this.#view;
    const [start, behind] = this.#view.placeOf(LetterHeader.offset) ?? [end, end];
    this.#last = {
      ...{ isPicked, hasOwnHeaders },
      bytes: Buffer.from(bytes.subarray(at, end)),
      offsetStart: start - at,
      offsetEnd: behind - at,
    };
  }

  #verdict(bytes: Buffer, at?: number): LetterVerdict {
    this.#view.move(bytes, at);
    return { isPicked: this.#pick.hasContext(this.#view), hasOwnHeaders: this.#view.hasOwnHeaders };
  }
}

function isAlike({ bytes: last, offsetStart, offsetEnd }: LastHeaders, bytes: Buffer, at: number): boolean {
  const { length } = last;
  return (
    at + length <= bytes.length &&
    last.compare(bytes, at, at + offsetStart, 0, offsetStart) === 0 &&
    last.compare(bytes, at + offsetEnd, at + length, offsetEnd, length) === 0 &&
    isNumber(bytes, at + offsetStart, at + offsetEnd)
  );
}
