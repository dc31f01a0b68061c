import type { MetricSet, MetricValue } from './metric-set.ts';

export type Labels = Readonly<Record<string, string>>;

/** One sample of a page: a name, its labels, its value. */
export interface NamedSample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

/** Turns an attribute into samples; none where the naming leaves it out. */
export type MetricNaming = (set: MetricSet, attribute: string, value: MetricValue) => readonly NamedSample[];

/** `kafka.admin.client` as `admin_client`. */
function shortDomain({ domain }: MetricSet): string {
  return snake(domain.slice('kafka.'.length));
}

function snake(name: string): string {
  return name.replace(/[-.]/g, '_');
}

function tagLabels({ tags }: MetricSet, label: (tag: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([tag, value]) => [label(tag), value]));
}

const APP_INFO = 'app-info';
const STRIMZI_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'connector-metrics': ['connector-class', 'connector-type', 'connector-version', 'status'],
  'connector-task-metrics': ['status'],
  'connect-worker-rebalance-metrics': ['leader-name', 'connect-protocol'],
};

/**
 * As jmx_exporter names them by the rules of Strimzi's examples (strimzi-kafka-operator, kafka-connect-metrics.yaml):
 * `kafka_connect_worker_connector_count`, `kafka_connect_sink_task_sink_record_read_total{connector,task}`. The rules leave some
 * attributes out; here those have names of the same kind.
 */
function strimzi(set: MetricSet, attribute: string, value: MetricValue): readonly NamedSample[] {
  const { group } = set;
  // As the rules write clientId and nodeId, in lower case.
  const labels = tagLabels(set, (tag) => tag.replaceAll('-', ''));
  if (group === APP_INFO) {
    const prefix = `kafka_${shortDomain(set)}`;
    if (attribute === 'start-time-ms') {
      return [{ name: `${prefix}_start_time_seconds`, labels, value: Number(value) / 1000 }];
    }
    const named = { ...labels, [snake(attribute)]: String(value) };
    return [{ name: `${prefix}_${snake(attribute)}_info`, labels: named, value: 1 }];
  }
  const base = group.replace(/-metrics$/, '');
  const isOfTask = set.domain === 'kafka.connect' && !/^connect(-|$)/.test(base);
  const name = `kafka_${isOfTask ? 'connect_' : ''}${snake(base)}_${snake(attribute)}`;
  if (typeof value === 'number') return [{ name, labels, value }];
  if (STRIMZI_TEXTS[group]?.includes(attribute) !== true) return [];
  return [{ name, labels: { ...labels, [snake(attribute)]: value }, value: 1 }];
}

/**
 * As jmx_exporter names them by Confluent's rules (confluentinc/jmx-monitoring-stacks, kafka_connect.yml):
 * `kafka_connect_connect_worker_metrics_connector_count{connector="aggregate"}`. What ends in `_total` or `_info` has two names:
 * jmx_exporter 1.x takes these endings away, 0.x leaves them, and dashboards ask for both.
 */
function confluent(set: MetricSet, attribute: string, value: MetricValue): readonly NamedSample[] {
  const { group } = set;
  const isOfConnect = set.domain === 'kafka.connect';
  const clientType = isOfConnect ? {} : { client_type: set.domain.slice('kafka.'.length) };
  const labels: Labels = { ...clientType, ...tagLabels(set, snake) };
  const prefix = `kafka_${shortDomain(set)}`;
  const told = { ...labels, [snake(attribute)]: String(value) };
  if (group === APP_INFO) return withoutEnding({ name: `${prefix}_app_info`, labels: told, value: 1 });
  if (group === 'connector-metrics') return [{ name: `${prefix}_connector_metrics`, labels: told, value: 1 }];
  if (typeof value !== 'number') return [];
  const isAggregate = group === 'connect-worker-metrics' && labels['connector'] === undefined;
  const name = `${prefix}_${snake(group)}_${snake(attribute)}`;
  return withoutEnding({ name, labels: isAggregate ? { connector: 'aggregate' } : labels, value });
}

function withoutEnding(sample: NamedSample): readonly NamedSample[] {
  const name = sample.name.replace(/_(?:total|info)$/, '');
  return name === sample.name ? [sample] : [sample, { ...sample, name }];
}

/**
 * As Strimzi's Metrics Reporter (io.strimzi.kafka.metrics.prometheus) names them: `kafka_connect_connect_worker_metrics_connector_count`,
 * `kafka_connect_connector_metrics_status_info{connector,status}`; `_total` at the end is taken away.
 */
function reporter(set: MetricSet, attribute: string, value: MetricValue): readonly NamedSample[] {
  const labels = tagLabels(set, snake);
  const name = `kafka_${shortDomain(set)}_${snake(set.group)}_${snake(attribute)}`;
  if (typeof value === 'number') return [{ name: name.replace(/_total$/, ''), labels, value }];
  return [{ name: `${name}_info`, labels: { ...labels, [snake(attribute)]: value }, value: 1 }];
}

export type NamingName = 'strimzi' | 'confluent' | 'reporter';

/** What `metrics.naming` may name. */
export const NAMINGS: Readonly<Record<NamingName, MetricNaming>> = { strimzi, confluent, reporter };
