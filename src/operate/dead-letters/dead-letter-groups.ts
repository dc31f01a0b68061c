import type { DeadLetterRecord } from './dead-letter-record.ts';
import { deadLetterGroupId, deadLetterGroupKey, type DeadLetterGroupKey } from './dead-letter-group.ts';
import { GroupTimes } from './group-times.ts';

/** The position and the time of a dead-letter record. */
export interface RecordPlace {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}

export interface DeadLetterGroup extends DeadLetterGroupKey {
  readonly id: string;
  /** The cause of the record that was read first. */
  readonly cause: string | undefined;
  count: number;
  /** Number of records of the group that a replay has sent. */
  replayed: number;
  /** The record with the earliest timestamp. */
  first: RecordPlace;
  last: RecordPlace;
  readonly examples: DeadLetterRecord[];
}

const MAX_GROUPS = 200;
const MAX_EXAMPLES = 3;
/** Maximum size of all examples together. */
const MAX_EXAMPLE_BYTES = 4_000_000;

/** Groups dead-letter records one by one; its memory is bounded. */
export class DeadLetterGroups {
  readonly times = new GroupTimes();
  readonly #groups = new Map<string, DeadLetterGroup>();
  #exampleBytes = 0;
  /** Number of records in groups beyond the first 200. */
  ungrouped = 0;

  add(deadLetter: DeadLetterRecord, isReplayed: boolean): void {
    const key = deadLetterGroupKey(deadLetter);
    const id = deadLetterGroupId(key);
    const place = { partition: deadLetter.partition, offset: deadLetter.offset, timestamp: deadLetter.timestamp };
    let group = this.#groups.get(id);
    if (group === undefined) {
      if (this.#groups.size >= MAX_GROUPS) {
        this.ungrouped++;
        return;
      }
      group = { id, ...key, cause: deadLetter.cause, count: 0, replayed: 0, first: place, last: place, examples: [] };
      this.#groups.set(id, group);
    }
    group.count++;
    if (isReplayed) group.replayed++;
    this.times.add(id, place.timestamp);
    if (place.timestamp < group.first.timestamp) group.first = place;
    if (place.timestamp >= group.last.timestamp) group.last = place;
    if (group.examples.length < MAX_EXAMPLES) this.#keep(group, deadLetter);
  }

  /** The groups, the largest first. */
  list(): readonly DeadLetterGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
  }

  #keep(group: DeadLetterGroup, deadLetter: DeadLetterRecord): void {
    const headers = deadLetter.headers.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
    const bytes = (deadLetter.key?.length ?? 0) + (deadLetter.value?.length ?? 0) + headers;
    if (this.#exampleBytes + bytes > MAX_EXAMPLE_BYTES) return;
    this.#exampleBytes += bytes;
    group.examples.push(deadLetter);
  }
}
