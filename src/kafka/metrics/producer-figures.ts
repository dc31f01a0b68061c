import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import { Meter, SampledStat, type MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import { rates, type NetworkFigures } from './network-figures.ts';

const now = (): number => performance.now();

/** What a producer writes (org.apache.kafka.clients.producer.internals.SenderMetricsRegistry), counted for each batch and request. */
export class ProducerFigures {
  readonly #records: Meter;
  readonly #failed: Meter;
  readonly #retried: Meter;
  readonly #split: Meter;
  readonly #batchSize: SampledStat;
  readonly #latency: SampledStat;
  readonly #recordsPerRequest: SampledStat;
  #inFlight = 0;

  constructor(window: MetricWindow) {
    this.#records = new Meter(window);
    this.#failed = new Meter(window);
    this.#retried = new Meter(window);
    this.#split = new Meter(window);
    this.#batchSize = new SampledStat(window);
    this.#latency = new SampledStat(window);
    this.#recordsPerRequest = new SampledStat(window);
  }

  /** One request goes to a broker. */
  sent(batches: readonly { readonly count: number; readonly bytes: Uint8Array }[]): void {
    const at = now();
    let records = 0;
    for (const batch of batches) {
      records += batch.count;
      this.#batchSize.record(batch.bytes.length, at);
    }
    this.#records.record(records, at);
    this.#recordsPerRequest.record(records, at);
    this.#inFlight += 1;
  }

  /** It was answered, or came to nothing. `sentAt`: `performance.now()`. */
  settled(sentAt: number): void {
    const at = now();
    this.#inFlight -= 1;
    this.#latency.record(at - sentAt, at);
  }

  failed(records: number): void {
    this.#failed.record(records, now());
  }

  retried(records: number): void {
    this.#retried.record(records, now());
  }

  split(): void {
    this.#split.record(1, now());
  }

  sets(network: NetworkFigures): readonly MetricSet[] {
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
    return [network.set('producer-metrics', values)];
  }
}
