import type { TaskFigures } from './verdict.ts';
import type { Verdict } from './verdicts.ts';

/** Since when each connector has its verdict, as far as this worker has seen it. */
export class VerdictTimes {
  readonly #seen = new Map<string, { readonly verdict: Verdict; readonly sinceMs: number }>();

  /**
   * Since when the connector has the verdict, in milliseconds since the epoch. A stall begins when the longest wait
   * began.
   */
  since(name: string, verdict: Verdict, tasks: readonly TaskFigures[]): number {
    const seen = this.#seen.get(name);
    if (seen?.verdict === verdict) return seen.sinceMs;
    const waited = tasks.map(({ waitedMs, silentMs = 0, withoutPartitionsMs = 0 }) =>
      Math.max(waitedMs, silentMs, withoutPartitionsMs),
    );
    const sinceMs = Date.now() - (verdict === 'STALLED' ? Math.max(0, ...waited) : 0);
    this.#seen.set(name, { verdict, sinceMs });
    return sinceMs;
  }

  /** Forgets connectors that are not among these. */
  keep(names: readonly string[]): void {
    if (this.#seen.size <= names.length) return;
    const known = new Set(names);
    for (const name of this.#seen.keys()) if (!known.has(name)) this.#seen.delete(name);
  }
}
