import { SuccessRatio, type MetricWindow } from '../observe/metrics/sampled-stats.ts';

/**
 * Counts the starts of connectors or tasks on this worker (org.apache.kafka.connect.runtime.WorkerMetricsGroup). A failure
 * after a successful start is not counted.
 */
export class Startups {
  readonly #ratio: SuccessRatio;
  readonly #started = new Set<string>();
  #succeeded = 0;
  #failed = 0;

  constructor(window: MetricWindow) {
    this.#ratio = new SuccessRatio(window);
  }

  /** Called when the connector or task is running or paused. Counted once per start. */
  succeeded(name: string): void {
    if (this.#started.has(name)) return;
    this.#started.add(name);
    this.#succeeded += 1;
    this.#ratio.record(true, performance.now());
  }

  failed(name: string): void {
    if (this.#started.delete(name)) return;
    this.#failed += 1;
    this.#ratio.record(false, performance.now());
  }

  /** Ends the current start: the next success or failure of the connector or task belongs to another start. */
  ended(name: string): void {
    this.#started.delete(name);
  }

  /** Values of attributes of `connect-worker-metrics`. */
  values(what: 'connector' | 'task'): Readonly<Record<string, number>> {
    const now = performance.now();
    return {
      [`${what}-startup-attempts-total`]: this.#succeeded + this.#failed,
      [`${what}-startup-success-total`]: this.#succeeded,
      [`${what}-startup-success-percentage`]: this.#ratio.success(now),
      [`${what}-startup-failure-total`]: this.#failed,
      [`${what}-startup-failure-percentage`]: this.#ratio.failure(now),
    };
  }
}
