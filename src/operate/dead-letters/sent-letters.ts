import type { DeadLetter } from './dead-letter.ts';
import { LetterPick } from './letter-pick.ts';
import type { StoredReplay } from './stored-replay.ts';

/** Tells which letters of a topic the replays that are kept have sent. A letter that failed again is a new letter. */
export class SentLetters {
  readonly #replays: readonly { readonly replay: StoredReplay; readonly pick: LetterPick }[];

  /** `replays`: the newest first. */
  constructor(connector: string, topic: string, replays: readonly StoredReplay[]) {
    this.#replays = replays
      .filter((replay) => replay.topic === topic)
      .map((replay) => ({ replay, pick: new LetterPick(connector, replay.selection) }));
  }

  /** The newest replay that has sent the letter. */
  replayOf(letter: DeadLetter): number | undefined {
    const { partition, offset } = letter;
    return this.#replays.find(
      ({ replay: { partitions }, pick }) =>
        partitions.some((part) => part.partition === partition && part.from <= offset && offset < part.next) &&
        pick.has(letter),
    )?.replay.id;
  }
}
