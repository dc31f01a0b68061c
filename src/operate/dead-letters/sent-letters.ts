import type { DeadLetter } from './dead-letter.ts';
import { LetterPick } from './letter-pick.ts';
import type { StoredReplay } from './stored-replay.ts';

/** Finds the stored replays that have sent a dead-letter record. A record that failed again is a new record. */
export class SentLetters {
  readonly #replays: readonly { readonly replay: StoredReplay; readonly pick: LetterPick }[];

  /** `replays`: the newest first. */
  constructor(connector: string, topic: string, replays: readonly StoredReplay[]) {
    this.#replays = replays
      .filter((replay) => replay.topic === topic)
      .map((replay) => ({ replay, pick: new LetterPick(connector, replay.selection) }));
  }

  /** The id of the newest replay that has sent the record. */
  replayOf(letter: DeadLetter): number | undefined {
    const { partition, offset } = letter;
    return this.#replays.find(
      ({ replay: { partitions }, pick }) =>
        partitions.some((part) => part.partition === partition && part.from <= offset && offset < part.next) &&
        pick.has(letter),
    )?.replay.id;
  }
}
