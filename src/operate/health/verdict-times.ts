import type { RestartView } from '../restarts/restart-view.ts';
import type { TaskFigures } from './verdict.ts';
import type { Verdict } from './verdicts.ts';

/** A verdict, and since when it was seen. */
interface SeenVerdict {
  readonly verdict: Verdict;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Number of verdicts that are kept for each connector. */
const MAX_VERDICTS = 20;

/** The last verdicts of each connector and since when it had them, as far as this worker has seen. */
export class VerdictTimes {
  /** The oldest first. */
  readonly #seen = new Map<string, readonly SeenVerdict[]>();

  /**
   * Since when the connector has the verdict, in milliseconds since the epoch. A stall begins when the longest wait
   * began. If the connector had already failed when this worker first saw it, the restart states give the time.
   */
  since(
    name: string,
    verdict: Verdict,
    tasks: readonly TaskFigures[],
    restarts: readonly Pick<RestartView, 'since'>[] = [],
  ): number {
    const seen = this.#seen.get(name) ?? [];
    const last = seen.at(-1);
    if (last?.verdict === verdict) return last.sinceMs;
    const waited = tasks.map(({ waitedMs, silentMs = 0, withoutPartitionsMs = 0 }) =>
      Math.max(waitedMs, silentMs, withoutPartitionsMs),
    );
    const now = Date.now();
    const began: Partial<Record<Verdict, number>> = {
      STALLED: now - Math.max(0, ...waited),
      FAILED: last === undefined ? Math.min(now, ...restarts.map((restart) => Date.parse(restart.since))) : now,
    };
    const sinceMs = began[verdict] ?? now;
    this.#seen.set(name, [...seen, { verdict, sinceMs }].slice(-MAX_VERDICTS));
    return sinceMs;
  }

  /** The last verdicts of a connector and since when (milliseconds since the epoch), the oldest first. */
  of(name: string): readonly (readonly [verdict: Verdict, sinceMs: number])[] {
    return (this.#seen.get(name) ?? []).map(({ verdict, sinceMs }) => [verdict, sinceMs]);
  }

  /** Forgets connectors that are not among these. */
  keep(names: readonly string[]): void {
    if (this.#seen.size <= names.length) return;
    const known = new Set(names);
    for (const name of this.#seen.keys()) if (!known.has(name)) this.#seen.delete(name);
  }
}
