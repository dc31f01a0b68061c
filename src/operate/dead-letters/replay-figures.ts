import type { MetricsPage } from '../../observe/metrics/metrics-page.ts';
import { deliveredOf, type StoredReplay } from './stored-replay.ts';

const OUTCOMES = ['delivered', 'dropped', 'failed'] as const;

/** Records that replays on this worker have processed, by outcome. */
type ReplayedRecords = Record<(typeof OUTCOMES)[number], number>;

/** Counts of the replays on this worker since its start, by connector. */
export class ReplayFigures {
  readonly #counts = new Map<string, ReplayedRecords>();
  readonly #running = new Set<string>();

  began(connector: string): void {
    this.#running.add(connector);
    if (!this.#counts.has(connector)) this.#counts.set(connector, { delivered: 0, dropped: 0, failed: 0 });
  }

  /** Adds the progress of a replay from `before` to `now`; counts never decrease. */
  advanced(connector: string, before: StoredReplay, now: StoredReplay): void {
    const counts = this.#counts.get(connector);
    if (counts === undefined) return;
    counts.delivered += Math.max(0, deliveredOf(now) - deliveredOf(before));
    counts.dropped += Math.max(0, now.dropped - before.dropped);
    counts.failed += Math.max(0, now.failed - before.failed);
  }

  ended(connector: string): void {
    this.#running.delete(connector);
  }

  forget(connector: string): void {
    this.#counts.delete(connector);
    this.#running.delete(connector);
  }

  addTo(page: MetricsPage): void {
    const runningHelp = 'Whether a replay of dead letters of the connector runs on this worker';
    page.declare('sluice_replay_running', 'gauge', runningHelp);
    const recordsHelp = 'Dead letters that replays on this worker have processed, by outcome';
    page.declare('sluice_replay_letters_total', 'counter', recordsHelp);
    for (const [connector, counts] of this.#counts) {
      page.gauge('sluice_replay_running', runningHelp, { connector }, Number(this.#running.has(connector)));
      for (const outcome of OUTCOMES) {
        page.counter('sluice_replay_letters_total', recordsHelp, { connector, outcome }, counts[outcome]);
      }
    }
  }
}
