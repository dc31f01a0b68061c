import type { MetricDomain, MetricSet } from '../../observe/metrics/metric-set.ts';
import { Meter, SampledStat, type MetricWindow } from '../../observe/metrics/sampled-stats.ts';
import { openClients } from '../../observe/metrics/open-clients.ts';

/** Kind of a client, which determines the names of its metric groups. */
export type ClientKind = 'consumer' | 'producer' | 'admin' | 'connect';

const DOMAINS: Readonly<Record<ClientKind, MetricDomain>> = {
  consumer: 'kafka.consumer',
  producer: 'kafka.producer',
  admin: 'kafka.admin.client',
  connect: 'kafka.connect',
};

/** Prefixes of group names such as `consumer-metrics` and `consumer-node-metrics`. */
const PREFIXES: Readonly<Record<ClientKind, string>> = {
  consumer: 'consumer',
  producer: 'producer',
  admin: 'admin-client',
  connect: 'connect',
};

/** Metrics with a total and a rate. */
const METERS = [
  'connection-creation',
  'connection-close',
  'successful-authentication',
  'failed-authentication',
  'network-io',
  'request',
  'response',
  'outgoing-byte',
  'incoming-byte',
] as const;
type MeterName = (typeof METERS)[number];

const now = (): number => performance.now();

/**
 * Network metrics of one client, recorded per request (org.apache.kafka.common.network.Selector.SelectorMetrics). They are exported
 * from the first connection until `end`.
 */
export class NetworkMetrics {
  readonly kind: ClientKind;
  readonly clientId: string;
  readonly window: MetricWindow;
  /** Returns the further metric groups of this kind of client. */
  more: () => readonly MetricSet[] = () => [];
  readonly #startedAtMs = Date.now();
  readonly #nodes = new Map<string, NodeMetrics>();
  readonly #meters: Readonly<Record<MeterName, Meter>>;
  readonly #requestSize: SampledStat;
  readonly #isShared: boolean;
  #connections = 0;
  #ended = false;
  #loop = performance.eventLoopUtilization();

  /** `isShared` is set for short-lived clients that share one id. Their metrics are exported permanently. */
  constructor(kind: ClientKind, clientId: string, window: MetricWindow, isShared = false) {
    this.kind = kind;
    this.#isShared = isShared;
    this.clientId = clientId;
    this.window = window;
    const meters = METERS.map((name) => [name, new Meter(window)] as const);
    this.#meters = Object.fromEntries(meters) as Record<MeterName, Meter>;
    this.#requestSize = new SampledStat(window);
  }

  /** Records an opened connection. */
  opened(): void {
    if (this.#ended) return;
    openClients.add(this);
    this.#connections += 1;
    this.#meters['connection-creation'].record(1, now());
  }

  closed(): void {
    this.#connections -= 1;
    this.#meters['connection-close'].record(1, now());
  }

  /** Called for connections with TLS or SASL. */
  authenticated(succeeded: boolean): void {
    this.#meters[succeeded ? 'successful-authentication' : 'failed-authentication'].record(1, now());
  }

  sent(): void {
    const at = now();
    this.#meters.request.record(1, at);
    this.#meters['network-io'].record(1, at);
  }

  /**
   * Records a response. `node` is Java's node name (`node-1`). `outgoing` and `incoming` are bytes since the previous response
   * on this connection. `sentAt` is a `performance.now()` value.
   */
  answered(node: string, outgoing: number, incoming: number, sentAt: number): void {
    const at = now();
    this.#meters.response.record(1, at);
    this.#meters['network-io'].record(1, at);
    this.#meters['outgoing-byte'].record(outgoing, at);
    this.#meters['incoming-byte'].record(incoming, at);
    this.#requestSize.record(outgoing, at);
    let metrics = this.#nodes.get(node);
    if (metrics === undefined) this.#nodes.set(node, (metrics = new NodeMetrics(this.window)));
    metrics.answered(outgoing, incoming, sentAt, at);
  }

  /** Removes a node that is no longer part of the cluster. */
  forget(node: string): void {
    this.#nodes.delete(node);
  }

  /** Called when the client is closed. */
  end(): void {
    if (this.#isShared) return;
    this.#ended = true;
    openClients.delete(this);
  }

  sets(): readonly MetricSet[] {
    const at = now();
    const domain = DOMAINS[this.kind];
    const prefix = PREFIXES[this.kind];
    const tags = { 'client-id': this.clientId };
    // Clients have no I/O thread of their own, so the event loop of this thread is measured, since the previous call.
    const loop = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(loop, this.#loop);
    this.#loop = loop;
    const values: Record<string, number> = {
      'connection-count': this.#connections,
      'request-size-avg': this.#requestSize.average(at),
      'request-size-max': this.#requestSize.max(at),
      'io-ratio': utilization,
      'io-wait-ratio': 1 - utilization,
    };
    for (const name of METERS) Object.assign(values, rates(name, this.#meters[name], at));
    const nodes = [...this.#nodes].map(([node, metrics]): MetricSet => ({
      domain,
      group: `${prefix}-node-metrics`,
      tags: { ...tags, 'node-id': node },
      values: metrics.values(at),
    }));
    const about = { domain, group: 'app-info', tags, values: { 'start-time-ms': this.#startedAtMs } };
    return [about, { domain, group: `${prefix}-metrics`, tags, values }, ...nodes, ...this.more()];
  }

  set(group: string, values: MetricSet['values'], tags: MetricSet['tags'] = {}): MetricSet {
    return { domain: DOMAINS[this.kind], group, tags: { 'client-id': this.clientId, ...tags }, values };
  }
}

let admins: NetworkMetrics | undefined;

/**
 * Metrics shared by all admin clients of this thread, because each client lives for one operation only. Java has a single
 * permanent admin client.
 */
export function adminMetrics(window: MetricWindow): NetworkMetrics {
  return (admins ??= new NetworkMetrics('admin', 'shared-admin', window, true));
}

class NodeMetrics {
  readonly #requests: Meter;
  readonly #outgoing: Meter;
  readonly #incoming: Meter;
  readonly #latency: SampledStat;
  readonly #size: SampledStat;

  constructor(window: MetricWindow) {
    this.#size = new SampledStat(window);
    this.#requests = new Meter(window);
    this.#outgoing = new Meter(window);
    this.#incoming = new Meter(window);
    this.#latency = new SampledStat(window);
  }

  answered(outgoing: number, incoming: number, sentAt: number, at: number): void {
    this.#requests.record(1, at);
    this.#outgoing.record(outgoing, at);
    this.#incoming.record(incoming, at);
    this.#latency.record(at - sentAt, at);
    this.#size.record(outgoing, at);
  }

  values(at: number): MetricSet['values'] {
    return {
      ...rates('request', this.#requests, at),
      ...rates('response', this.#requests, at),
      ...rates('outgoing-byte', this.#outgoing, at),
      ...rates('incoming-byte', this.#incoming, at),
      'request-size-avg': this.#size.average(at),
      'request-size-max': this.#size.max(at),
      'request-latency-avg': this.#latency.average(at),
      'request-latency-max': this.#latency.max(at),
    };
  }
}

/** Returns total and rate, under Java's names for a Meter. */
export function rates(name: string, meter: Meter, at: number): Readonly<Record<string, number>> {
  return { [`${name}-rate`]: meter.rate(at), [`${name}-total`]: meter.total };
}
