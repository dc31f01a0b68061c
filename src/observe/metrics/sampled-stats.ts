/** The window of rates, averages and maxima: `metrics.sample.window.ms` and `metrics.num.samples`. */
export interface MetricWindow {
  readonly sampleMs: number;
  readonly samples: number;
}

/** The defaults of `metrics.sample.window.ms` and `metrics.num.samples`. */
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
 * Statistics over the window, as in Java's clients (org.apache.kafka.common.metrics.stats.SampledStat, Rate, Avg, Max,
 * Min). Values are recorded in samples of `sampleMs`; the oldest sample is dropped as a whole. Recording costs a few
 * comparisons and additions. All times are milliseconds of the same clock. Without values in the window, rates are 0
 * and the other results are NaN.
 */
export class SampledStat {
  readonly #window: MetricWindow;
  /** A ring with at most one sample more than the window has. A new sample replaces the oldest one. */
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

  /** Sum of the recorded values per second. */
  rate(nowMs: number): number {
    this.#purge(nowMs);
    return (this.#total('sum') / this.#elapsedMs(nowMs)) * 1000;
  }

  /** Number of recorded values per second. */
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

  /**
   * The length of the window, as in Java's Rate.windowSize: samples that have not started yet count in full, except for
   * one.
   */
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

/** The ratio of successful attempts within the window (org.apache.kafka.common.metrics.stats.Frequencies). */
export class SuccessRatio {
  readonly #stat: SampledStat;

  constructor(window: MetricWindow) {
    this.#stat = new SampledStat(window);
  }

  record(succeeded: boolean, nowMs: number): void {
    this.#stat.record(succeeded ? 1 : 0, nowMs);
  }

  /** From 0 to 1; 0 without attempts. */
  success(nowMs: number): number {
    const average = this.#stat.average(nowMs);
    return Number.isNaN(average) ? 0 : average;
  }

  failure(nowMs: number): number {
    const average = this.#stat.average(nowMs);
    return Number.isNaN(average) ? 0 : 1 - average;
  }
}
