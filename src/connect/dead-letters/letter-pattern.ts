import { HEADER_PLACES } from '../../kafka/records/record-reader.ts';
import type { LetterView } from './letter-view.ts';

/** Bytes of several headers that lie behind one another: from the key of the first one to the key, or the value, of the last one. */
interface Run {
  readonly from: number;
  readonly to: number;
  /** Where they begin and end, in places of a view. */
  readonly startPlace: number;
  readonly endPlace: number;
}

/** Headers of a letter, with the values that matter; other letters that have them in the same order are alike. */
export class LetterPattern {
  readonly #bytes: Buffer;
  readonly #count: number;
  readonly #runs: readonly Run[];

  /** `matters`: whether the value of a header does. Of the others the keys count. */
  constructor(view: LetterView, matters: (key: string) => boolean) {
    const { bytes, places, count } = view;
    const begin = places[0] ?? 0;
    this.#bytes = Buffer.from(bytes.subarray(begin, view.end));
    this.#count = count;
    const runs: Run[] = [];
    let startPlace = 0;
    for (let at = 0; at < count * HEADER_PLACES; at += HEADER_PLACES) {
      const isLast = at === (count - 1) * HEADER_PLACES;
      const isFixed = matters(bytes.toString('utf8', places[at], places[at + 1]));
      if (isFixed && !isLast) continue;
      const endPlace = at + (isFixed ? HEADER_PLACES - 1 : 1);
      runs.push({
        ...{ startPlace, endPlace },
        from: (places[startPlace] ?? 0) - begin,
        to: Math.max(places[endPlace] ?? 0, places[endPlace - 1] ?? 0) - begin,
      });
      startPlace = at + HEADER_PLACES;
    }
    this.#runs = runs;
  }

  matches({ bytes, places, count }: LetterView): boolean {
    if (count !== this.#count) return false;
    for (const { from, to, startPlace, endPlace } of this.#runs) {
      const start = places[startPlace] ?? 0;
      const end = Math.max(places[endPlace] ?? 0, places[endPlace - 1] ?? 0);
      if (end - start !== to - from || !isSame(this.#bytes, from, bytes, start, to - from)) return false;
    }
    return true;
  }
}

/** Of some dozens of bytes, for which a call of `compare` takes longer. */
function isSame(known: Buffer, from: number, bytes: Buffer, start: number, length: number): boolean {
  for (let index = length - 1; index >= 0; index--) if (known[from + index] !== bytes[start + index]) return false;
  return true;
}
