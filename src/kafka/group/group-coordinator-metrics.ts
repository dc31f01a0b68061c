import { Meter, SampledStat, type MetricWindow } from '../../observe/metrics/sampled-stats.ts';

export type GroupRequest = 'join' | 'sync' | 'heartbeat';

/**
 * Metrics of a client's requests to the coordinator of its group
 * (org.apache.kafka.clients.consumer.internals.AbstractCoordinator.GroupCoordinatorMetrics). Requests that return an
 * error are not counted, except heartbeats with REBALANCE_IN_PROGRESS. A KIP-848 member only sends heartbeats: the one
 * that joins the group counts as `join`, and applying an assignment as `sync`.
 */
export class GroupCoordinatorMetrics {
  readonly #counts: Readonly<Record<GroupRequest, Meter>>;
  readonly #times: Readonly<Record<GroupRequest, SampledStat>>;
  readonly #rebalances: Meter;
  readonly #rebalanceTimes: SampledStat;
  readonly #failedRebalances: Meter;
  #lastRebalanceAt: number | undefined;
  #rebalancesMs = 0;
  #lastHeartbeatAt: number | undefined;

  constructor(window: MetricWindow) {
    this.#counts = { join: new Meter(window), sync: new Meter(window), heartbeat: new Meter(window) };
    this.#times = { join: new SampledStat(window), sync: new SampledStat(window), heartbeat: new SampledStat(window) };
    this.#rebalances = new Meter(window);
    this.#rebalanceTimes = new SampledStat(window);
    this.#failedRebalances = new Meter(window);
  }

  /** Records a successful request. `sentAt` is in milliseconds since the epoch. */
  answered(request: GroupRequest, sentAt: number): void {
    const now = performance.now();
    this.#counts[request].record(1, now);
    this.#times[request].record(Math.max(0, Date.now() - sentAt), now);
    if (request === 'heartbeat') this.#lastHeartbeatAt = sentAt;
  }

  /** Records a completed rebalance. `startedAt` is the start of the join by `performance.now()`. */
  rebalanced(startedAt: number): void {
    const now = performance.now();
    this.#rebalances.record(1, now);
    this.#rebalanceTimes.record(now - startedAt, now);
    this.#rebalancesMs += now - startedAt;
    this.#lastRebalanceAt = now;
  }

  /** Records a failed attempt to join the group; Java counts retriable failures too. */
  rebalanceFailed(): void {
    this.#failedRebalances.record(1, performance.now());
  }

  /** Values by Java's names in `connect-coordinator-metrics` and `consumer-coordinator-metrics`. */
  values(): Readonly<Record<string, number>> {
    const now = performance.now();
    const values: Record<string, number> = {};
    for (const request of ['join', 'sync', 'heartbeat'] as const) {
      values[`${request}-total`] = this.#counts[request].total;
      values[`${request}-rate`] = this.#counts[request].rate(now);
      if (request === 'heartbeat') continue;
      values[`${request}-time-avg`] = this.#times[request].average(now);
      values[`${request}-time-max`] = this.#times[request].max(now);
    }
    values['heartbeat-response-time-max'] = this.#times.heartbeat.max(now);
    values['last-heartbeat-seconds-ago'] =
      this.#lastHeartbeatAt === undefined ? -1 : Math.floor((Date.now() - this.#lastHeartbeatAt) / 1000);
    values['rebalance-total'] = this.#rebalances.total;
    values['rebalance-rate-per-hour'] = this.#rebalances.rate(now) * 3600;
    values['rebalance-latency-avg'] = this.#rebalanceTimes.average(now);
    values['rebalance-latency-max'] = this.#rebalanceTimes.max(now);
    values['rebalance-latency-total'] = this.#rebalancesMs;
    values['last-rebalance-seconds-ago'] =
      this.#lastRebalanceAt === undefined ? -1 : Math.floor((now - this.#lastRebalanceAt) / 1000);
    values['failed-rebalance-total'] = this.#failedRebalances.total;
    values['failed-rebalance-rate-per-hour'] = this.#failedRebalances.rate(now) * 3600;
    return values;
  }
}
