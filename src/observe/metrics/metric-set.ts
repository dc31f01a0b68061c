/** The domains in which Java's clients and its Connect worker register their MBeans. */
export type MetricDomain = 'kafka.connect' | 'kafka.consumer' | 'kafka.producer' | 'kafka.admin.client';

/** A number, or a text that `/metrics` shows as a label. NaN: nothing was measured yet, as in Java. */
export type MetricValue = number | string;

/**
 * The metrics of one MBean of Java, such as `kafka.connect:type=sink-task-metrics,connector="orders",task="0"`, as plain data. `values`
 * has an entry for each known attribute, by the names of [METRIC_GROUPS](./metric-groups.ts).
 */
export interface MetricSet {
  readonly domain: MetricDomain;
  /** `sink-task-metrics` */
  readonly group: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, MetricValue>>;
}

/** A set of metrics of the worker, its connectors or its tasks, but not of their Kafka clients. */
export function connectMetrics(
  group: string,
  tags: Readonly<Record<string, string>>,
  values: Readonly<Record<string, MetricValue>>,
): MetricSet {
  return { domain: 'kafka.connect', group, tags, values };
}
