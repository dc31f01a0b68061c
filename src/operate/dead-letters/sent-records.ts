import type { DeadLetterRecord } from './dead-letter-record.ts';
import { SelectionMatcher } from './selection-matcher.ts';
import type { StoredReplay } from './stored-replay.ts';

/** Finds the stored replays that have sent a dead-letter record. A record that failed again is a new record. */
export class SentRecords {
  readonly #replays: readonly { readonly replay: StoredReplay; readonly matcher: SelectionMatcher }[];

  /** `replays`: the newest first. */
  constructor(connector: string, topic: string, replays: readonly StoredReplay[]) {
    this.#replays = replays
      .filter((replay) => replay.topic === topic)
      .map((replay) => ({ replay, matcher: new SelectionMatcher(connector, replay.selection) }));
  }

  /** The id of the newest replay that has sent the record. */
  replayOf(deadLetter: DeadLetterRecord): number | undefined {
    const { partition, offset } = deadLetter;
    return this.#replays.find(
      ({ replay: { partitions }, matcher }) =>
        partitions.some((part) => part.partition === partition && part.from <= offset && offset < part.next) &&
        matcher.has(deadLetter),
    )?.replay.id;
  }
}
