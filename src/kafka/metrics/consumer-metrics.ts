import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import { Meter, SampledStat, type MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import type { PartitionLag } from '../api.ts';
import { rates, type NetworkMetrics } from './network-metrics.ts';

const now = (): number => performance.now();

/**
 * Metrics of a consumer (org.apache.kafka.clients.consumer.internals.FetchMetricsManager), recorded per fetch response and per
 * poll.
 */
export class ConsumerMetrics {
  readonly #fetches: Meter;
  readonly #latency: SampledStat;
  readonly #size: SampledStat;
  readonly #bytes: Meter;
  readonly #records: Meter;
  readonly #recordsPerFetch: SampledStat;
  readonly #commitMs: SampledStat;
  readonly #commits: Meter;
  readonly #pollGapMs: SampledStat;
  #lastPollAt: number | undefined;

  constructor(window: MetricWindow) {
    this.#fetches = new Meter(window);
    this.#latency = new SampledStat(window);
    this.#size = new SampledStat(window);
    this.#bytes = new Meter(window);
    this.#records = new Meter(window);
    this.#recordsPerFetch = new SampledStat(window);
    this.#commitMs = new SampledStat(window);
    this.#commits = new Meter(window);
    this.#pollGapMs = new SampledStat(window);
  }

  /** Records a fetch response. `sentAt` is a `performance.now()` value. */
  fetched(bytes: number, sentAt: number): void {
    const at = now();
    this.#fetches.record(1, at);
    this.#latency.record(at - sentAt, at);
    this.#size.record(bytes, at);
    this.#bytes.record(bytes, at);
  }

  polled(): void {
    const at = now();
    if (this.#lastPollAt !== undefined) this.#pollGapMs.record(at - this.#lastPollAt, at);
    this.#lastPollAt = at;
  }

  /**
   * Counts the records that a poll returned. Unlike in Java, `records-per-request-avg` is the average number of records
   * per poll that returned any.
   */
  consumed(records: number): void {
    const at = now();
    this.#records.record(records, at);
    this.#recordsPerFetch.record(records, at);
  }

  committed(sentAt: number): void {
    const at = now();
    this.#commits.record(1, at);
    this.#commitMs.record(at - sentAt, at);
  }

  sets(network: NetworkMetrics, lags: readonly PartitionLag[], membership: MetricSet['values']): readonly MetricSet[] {
    const at = now();
    const known = lags.flatMap(({ lag }) => lag ?? []);
    const fetching = {
      ...rates('fetch', this.#fetches, at),
      'fetch-latency-avg': this.#latency.average(at),
      'fetch-latency-max': this.#latency.max(at),
      'fetch-size-avg': this.#size.average(at),
      'fetch-size-max': this.#size.max(at),
      ...rates('bytes-consumed', this.#bytes, at),
      ...rates('records-consumed', this.#records, at),
      'records-per-request-avg': this.#recordsPerFetch.average(at),
      'records-lag-max': known.length === 0 ? NaN : Math.max(...known),
    };
    const coordinating = {
      'assigned-partitions': lags.length,
      ...rates('commit', this.#commits, at),
      'commit-latency-avg': this.#commitMs.average(at),
      'commit-latency-max': this.#commitMs.max(at),
      ...membership,
    };
    const polling = {
      'time-between-poll-avg': this.#pollGapMs.average(at),
      'time-between-poll-max': this.#pollGapMs.max(at),
      'last-poll-seconds-ago': this.#lastPollAt === undefined ? -1 : Math.floor((at - this.#lastPollAt) / 1000),
    };
    const partitions = lags.flatMap(({ topic, partition, lag }) =>
      lag === undefined
        ? []
        : network.set(
            'consumer-fetch-manager-metrics',
            { 'records-lag': lag },
            { topic, partition: String(partition) },
          ),
    );
    return [
      network.set('consumer-metrics', polling),
      network.set('consumer-fetch-manager-metrics', fetching),
      network.set('consumer-coordinator-metrics', coordinating),
      ...partitions,
    ];
  }
}
