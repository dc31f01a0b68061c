import type { DeadLetter } from './dead-letter.ts';
import { letterGroupId, letterGroupKey, type LetterGroupKey } from './letter-group.ts';
import { LetterTimes } from './letter-times.ts';

/** The position and the time of a dead-letter record. */
export interface LetterPlace {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}

export interface LetterGroup extends LetterGroupKey {
  readonly id: string;
  /** The cause of the first record that was read. */
  readonly cause: string | undefined;
  count: number;
  /** Number of these records that a replay has sent. */
  replayed: number;
  /** The first record by its timestamp. */
  first: LetterPlace;
  last: LetterPlace;
  readonly examples: DeadLetter[];
}

const MAX_GROUPS = 200;
const MAX_EXAMPLES = 3;
/** Maximum size of all examples together. */
const MAX_EXAMPLE_BYTES = 4_000_000;

/** Groups dead-letter records one by one; its memory is bounded. */
export class LetterGroups {
  readonly times = new LetterTimes();
  readonly #groups = new Map<string, LetterGroup>();
  #exampleBytes = 0;
  /** Number of records in groups beyond the first 200. */
  ungrouped = 0;

  add(letter: DeadLetter, isReplayed: boolean): void {
    const key = letterGroupKey(letter);
    const id = letterGroupId(key);
    const place = { partition: letter.partition, offset: letter.offset, timestamp: letter.timestamp };
    let group = this.#groups.get(id);
    if (group === undefined) {
      if (this.#groups.size >= MAX_GROUPS) {
        this.ungrouped++;
        return;
      }
      group = { id, ...key, cause: letter.cause, count: 0, replayed: 0, first: place, last: place, examples: [] };
      this.#groups.set(id, group);
    }
    group.count++;
    if (isReplayed) group.replayed++;
    this.times.add(id, place.timestamp);
    if (place.timestamp < group.first.timestamp) group.first = place;
    if (place.timestamp >= group.last.timestamp) group.last = place;
    if (group.examples.length < MAX_EXAMPLES) this.#keep(group, letter);
  }

  /** The groups, the largest first. */
  list(): readonly LetterGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
  }

  #keep(group: LetterGroup, letter: DeadLetter): void {
    const headers = letter.headers.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
    const bytes = (letter.key?.length ?? 0) + (letter.value?.length ?? 0) + headers;
    if (this.#exampleBytes + bytes > MAX_EXAMPLE_BYTES) return;
    this.#exampleBytes += bytes;
    group.examples.push(letter);
  }
}
