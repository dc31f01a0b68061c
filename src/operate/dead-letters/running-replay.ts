import type { ReplayProgress } from '../../connect/dead-letters/replay-assignment.ts';
import { advanced, ended, type ReplayState, type StoredReplay } from './stored-replay.ts';

/** A replay whose task runs on this worker. */
export class RunningReplay {
  readonly connector: string;
  /** As it was when it began here: the task's counts come on top. */
  readonly #base: StoredReplay;
  latest: StoredReplay;
  /** Of the task, last. */
  #read = 0;
  /** Its progress is to be stored. */
  writing: NodeJS.Timeout | undefined;
  hasEnded = false;

  constructor(connector: string, replay: StoredReplay) {
    this.connector = connector;
    this.#base = replay;
    this.latest = replay;
  }

  /** `true`: it has come further. */
  advance(progress: ReplayProgress): boolean {
    if (progress.read < this.#read) {
      // The task has started again, in another thread, and counts what the one before has counted.
      this.latest = { ...this.latest, isResumed: true };
      if (!progress.isDone) return false;
    }
    this.#read = progress.read;
    const { failed, isResumed } = this.latest;
    const now = advanced(this.#base, progress);
    this.latest = { ...now, failed: Math.max(now.failed, failed), isResumed };
    return true;
  }

  end(state: ReplayState, reason: string | null, failed: number): void {
    this.hasEnded = true;
    this.latest = ended({ ...this.latest, failed }, state, reason);
  }
}
