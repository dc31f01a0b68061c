/** `metrics.sample.window.ms` and `metrics.num.samples`: over which time rates, means and maxima are computed. */
export interface MetricWindow {
  readonly sampleMs: number;
  readonly samples: number;
}

/** As `metrics.sample.window.ms` and `metrics.num.samples` by default. */
export const DEFAULT_WINDOW: MetricWindow = { sampleMs: 30_000, samples: 2 };

interface Sample {
  startMs: number;
  lastMs: number;
  count: number;
  sum: number;
  max: number;
  min: number;
}

/**
 * What was recorded within the window, as Java's clients keep it (org.apache.kafka.common.metrics.stats.SampledStat, Rate, Avg, Max,
 * Min): in pieces of `sampleMs`, of which the oldest is given up as a whole. Recording costs a few comparisons and additions. Times
 * are milliseconds of one clock. What has no value within the window is NaN, a rate 0.
 */
export class SampledStat {
  readonly #window: MetricWindow;
  /** At most one more than the window has: the piece that is being given up. */
  readonly #samples: Sample[] = [];
  #current = 0;

  constructor(window: MetricWindow) {
    this.#window = window;
  }

  record(value: number, nowMs: number): void {
    let sample = (this.#samples[this.#current] ??= newSample(nowMs));
    if (nowMs - sample.startMs >= this.#window.sampleMs) {
      this.#current = (this.#current + 1) % (this.#window.samples + 1);
      sample = this.#samples[this.#current] = newSample(nowMs);
    }
    sample.count += 1;
    sample.sum += value;
    sample.lastMs = nowMs;
    if (value > sample.max) sample.max = value;
    if (value < sample.min) sample.min = value;
  }

  average(nowMs: number): number {
    this.#purge(nowMs);
    return this.#total('sum') / this.#total('count');
  }

  max(nowMs: number): number {
    this.#purge(nowMs);
    const max = Math.max(...this.#samples.map((sample) => sample.max));
    return max === -Infinity ? NaN : max;
  }

  min(nowMs: number): number {
    this.#purge(nowMs);
    const min = Math.min(...this.#samples.map((sample) => sample.min));
    return min === Infinity ? NaN : min;
  }

  /** Sum of what was recorded, per second. */
  rate(nowMs: number): number {
    this.#purge(nowMs);
    return (this.#total('sum') / this.#elapsedMs(nowMs)) * 1000;
  }

  /** How often something was recorded, per second. */
  countRate(nowMs: number): number {
    this.#purge(nowMs);
    return (this.#total('count') / this.#elapsedMs(nowMs)) * 1000;
  }

  #total(of: 'sum' | 'count'): number {
    return this.#samples.reduce((total, sample) => total + sample[of], 0);
  }

  #purge(nowMs: number): void {
    const ageMs = this.#window.samples * this.#window.sampleMs;
    if (this.#samples.length === 0) this.#samples.push(newSample(nowMs));
    this.#samples.forEach((sample, index) => {
      if (nowMs - sample.lastMs >= ageMs) this.#samples[index] = newSample(nowMs);
    });
  }

  /** Rate.windowSize: pieces of the window that have not begun yet count whole, except for one. */
  #elapsedMs(nowMs: number): number {
    const { sampleMs, samples } = this.#window;
    const elapsed = nowMs - Math.min(...this.#samples.map(({ startMs }) => startMs));
    const missing = sampleMs === 0 ? 0 : samples - 1 - Math.floor(elapsed / sampleMs);
    return Math.max(1, elapsed + Math.max(0, missing) * sampleMs);
  }
}

function newSample(nowMs: number): Sample {
  return { startMs: nowMs, lastMs: nowMs, count: 0, sum: 0, max: -Infinity, min: Infinity };
}

/** A total with its rate (org.apache.kafka.common.metrics.stats.Meter). */
export class Meter {
  readonly #stat: SampledStat;
  #total = 0;

  constructor(window: MetricWindow) {
    this.#stat = new SampledStat(window);
  }

  record(count: number, nowMs: number): void {
    this.#total += count;
    this.#stat.record(count, nowMs);
  }

  get total(): number {
    return this.#total;
  }

  /** Per second. */
  rate(nowMs: number): number {
    return this.#stat.rate(nowMs);
  }
}

/** How many of several attempts within the window succeeded (org.apache.kafka.common.metrics.stats.Frequencies). */
export class SuccessRatio {
  readonly #stat: SampledStat;

  constructor(window: MetricWindow) {
    this.#stat = new SampledStat(window);
  }

  record(succeeded: boolean, nowMs: number): void {
    this.#stat.record(succeeded ? 1 : 0, nowMs);
  }

  /** From 0 to 1; 0 when nothing was attempted. */
  success(nowMs: number): number {
    const average = this.#stat.average(nowMs);
    return Number.isNaN(average) ? 0 : average;
  }

  failure(nowMs: number): number {
    const average = this.#stat.average(nowMs);
    return Number.isNaN(average) ? 0 : 1 - average;
  }
}
