import type { MetricsPage } from '../../observe/metrics/metrics-page.ts';
import { deliveredOf, type StoredReplay } from './stored-replay.ts';

const OUTCOMES = ['delivered', 'dropped', 'failed'] as const;

/** Records that replays have sent from this worker, by outcome. */
type ReplayedLetters = Record<(typeof OUTCOMES)[number], number>;

/** Counts of the replays on this worker since its start, by connector. */
export class ReplayFigures {
  readonly #letters = new Map<string, ReplayedLetters>();
  readonly #running = new Set<string>();

  began(connector: string): void {
    this.#running.add(connector);
    if (!this.#letters.has(connector)) this.#letters.set(connector, { delivered: 0, dropped: 0, failed: 0 });
  }

  /** Adds the progress of a replay from `before` to `now`; counts never decrease. */
  advanced(connector: string, before: StoredReplay, now: StoredReplay): void {
    const letters = this.#letters.get(connector);
    if (letters === undefined) return;
    letters.delivered += Math.max(0, deliveredOf(now) - deliveredOf(before));
    letters.dropped += Math.max(0, now.dropped - before.dropped);
    letters.failed += Math.max(0, now.failed - before.failed);
  }

  ended(connector: string): void {
    this.#running.delete(connector);
  }

  forget(connector: string): void {
    this.#letters.delete(connector);
    this.#running.delete(connector);
  }

  addTo(page: MetricsPage): void {
    const help = 'Whether a replay of dead letters of the connector runs on this worker';
    page.declare('sluice_replay_running', 'gauge', help);
    const lettersHelp = 'Dead letters that replays on this worker have processed, by outcome';
    page.declare('sluice_replay_letters_total', 'counter', lettersHelp);
    for (const [connector, letters] of this.#letters) {
      page.gauge('sluice_replay_running', help, { connector }, Number(this.#running.has(connector)));
      for (const outcome of OUTCOMES) {
        page.counter('sluice_replay_letters_total', lettersHelp, { connector, outcome }, letters[outcome]);
      }
    }
  }
}
