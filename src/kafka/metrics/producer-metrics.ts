import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import { Meter, SampledStat, type MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import { rates, type NetworkMetrics } from './network-metrics.ts';

const now = (): number => performance.now();

/** Metrics of a producer (org.apache.kafka.clients.producer.internals.SenderMetricsRegistry), recorded per batch and request. */
export class ProducerMetrics {
  readonly #records: Meter;
  readonly #failed: Meter;
  readonly #retried: Meter;
  readonly #split: Meter;
  readonly #batchSize: SampledStat;
  readonly #latency: SampledStat;
  readonly #recordsPerRequest: SampledStat;
  readonly #topics = new Map<string, TopicMetrics>();
  readonly #window: MetricWindow;
  #inFlight = 0;

  constructor(window: MetricWindow) {
    this.#window = window;
    this.#records = new Meter(window);
    this.#failed = new Meter(window);
    this.#retried = new Meter(window);
    this.#split = new Meter(window);
    this.#batchSize = new SampledStat(window);
    this.#latency = new SampledStat(window);
    this.#recordsPerRequest = new SampledStat(window);
  }

  /** Records a request that was sent to a broker. */
  sent(batches: readonly { readonly topic: string; readonly count: number; readonly bytes: Uint8Array }[]): void {
    const at = now();
    let records = 0;
    for (const batch of batches) {
      records += batch.count;
      this.#batchSize.record(batch.bytes.length, at);
      this.#ofTopic(batch.topic, at).sent(batch.count, batch.bytes.length, at);
    }
    this.#records.record(records, at);
    this.#recordsPerRequest.record(records, at);
    this.#inFlight += 1;
  }

  /** Records a request that completed or failed. `sentAt` is a `performance.now()` value. */
  settled(sentAt: number): void {
    const at = now();
    this.#inFlight -= 1;
    this.#latency.record(at - sentAt, at);
  }

  failed(topic: string, records: number): void {
    const at = now();
    this.#failed.record(records, at);
    this.#ofTopic(topic, at).failed.record(records, at);
  }

  retried(topic: string, records: number): void {
    const at = now();
    this.#retried.record(records, at);
    this.#ofTopic(topic, at).retried.record(records, at);
  }

  split(): void {
    this.#split.record(1, now());
  }

  sets(network: NetworkMetrics): readonly MetricSet[] {
    const at = now();
    const values = {
      ...rates('record-send', this.#records, at),
      ...rates('record-error', this.#failed, at),
      ...rates('record-retry', this.#retried, at),
      ...rates('batch-split', this.#split, at),
      'batch-size-avg': this.#batchSize.average(at),
      'batch-size-max': this.#batchSize.max(at),
      'request-latency-avg': this.#latency.average(at),
      'request-latency-max': this.#latency.max(at),
      'records-per-request-avg': this.#recordsPerRequest.average(at),
      'requests-in-flight': this.#inFlight,
    };
    const topics: MetricSet[] = [];
    for (const [topic, metrics] of this.#topics) {
      if (at - metrics.lastAt > TOPIC_MS) this.#topics.delete(topic);
      else topics.push(network.set('producer-topic-metrics', metrics.values(at), { topic }));
    }
    return [network.set('producer-metrics', values), ...topics];
  }

  #ofTopic(topic: string, at: number): TopicMetrics {
    let metrics = this.#topics.get(topic);
    if (metrics === undefined) this.#topics.set(topic, (metrics = new TopicMetrics(this.#window)));
    metrics.lastAt = at;
    return metrics;
  }
}

/**
 * The metrics of a topic are removed after this time without records. If records arrive later, the totals restart from
 * zero.
 */
const TOPIC_MS = 600_000;

class TopicMetrics {
  readonly failed: Meter;
  readonly retried: Meter;
  readonly #records: Meter;
  readonly #bytes: Meter;
  lastAt = 0;

  constructor(window: MetricWindow) {
    this.failed = new Meter(window);
    this.retried = new Meter(window);
    this.#records = new Meter(window);
    this.#bytes = new Meter(window);
  }

  sent(records: number, bytes: number, at: number): void {
    this.#records.record(records, at);
    this.#bytes.record(bytes, at);
  }

  values(at: number): MetricSet['values'] {
    return {
      ...rates('record-send', this.#records, at),
      ...rates('byte', this.#bytes, at),
      ...rates('record-error', this.failed, at),
      ...rates('record-retry', this.retried, at),
    };
  }
}
