import type { ReplayProgress } from '../../connect/dead-letters/replay-assignment.ts';
import { advanced, ended, type ReplayState, type StoredReplay } from './stored-replay.ts';

/** A replay whose task runs on this worker. */
export class RunningReplay {
  readonly connector: string;
  /** The replay when it started here; the counts of the task are added to it. */
  readonly #base: StoredReplay;
  latest: StoredReplay;
  /** The last number of read records that the task has reported. */
  #read = 0;
  /** The timer of the next write to the store. */
  writing: NodeJS.Timeout | undefined;
  hasEnded = false;

  constructor(connector: string, replay: StoredReplay) {
    this.connector = connector;
    this.#base = replay;
    this.latest = replay;
  }

  /** Returns whether the replay has advanced. */
  advance(progress: ReplayProgress): boolean {
    if (progress.read < this.#read) {
      // The task was restarted in another thread, and counts records again that its predecessor has already counted.
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
