import { BoundedMap } from '../../data/bounded-map.ts';

/** A topic that was reported less than this time ago waits for the next flush, which follows within the same time. */
const EVERY_MS = 1_000;
/** Maximum number of topics whose last report is remembered. */
const MAX_TOPICS = 1_000;

/**
 * Reports the topics that a task uses. A task names a topic with each batch, because the list of active topics may have been
 * reset. With small batches, an event for each batch would be a considerable part of the work of two threads, so a
 * topic is reported about once per second: immediately if its last report was at least a second ago, and otherwise
 * within the next second.
 */
export class TopicReports {
  readonly #report: (topic: string) => void;
  readonly #reportedAt = new BoundedMap<string, number>(MAX_TOPICS);
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(report: (topic: string) => void) {
    this.#report = report;
  }

  used(topic: string): void {
    const now = performance.now();
    const reportedAt = this.#reportedAt.get(topic);
    if (reportedAt !== undefined && now - reportedAt < EVERY_MS) {
      this.#waiting.add(topic);
      this.#timer ??= setTimeout(() => this.flush(), EVERY_MS).unref();
      return;
    }
    this.#reportedAt.set(topic, now);
    this.#report(topic);
  }

  /** Reports the waiting topics. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = performance.now();
    for (const topic of this.#waiting) {
      this.#reportedAt.set(topic, now);
      this.#report(topic);
    }
    this.#waiting.clear();
  }
}
