import type { MetricDomain, MetricSet } from './metric-set.ts';

export type Labels = Readonly<Record<string, string>>;

/** The name of an attribute in a response of `/metrics`. */
export interface MetricName {
  readonly name: string;
  /** If set, the value is the text of this label, and the sample is 1. */
  readonly valueLabel?: string;
  /** Factor by which the value is multiplied. */
  readonly factor?: number;
}

/** A naming scheme of metrics. Names depend only on the group and the attribute, labels on the tags. */
export interface MetricNaming {
  /** Empty if the naming does not include the attribute. */
  names(group: NamedGroup, attribute: string, isText: boolean): readonly MetricName[];
  labels(set: MetricSet): Labels;
}

export interface NamedGroup {
  readonly domain: MetricDomain;
  readonly group: string;
}

const APP_INFO = 'app-info';

/** `kafka.admin.client` as `admin_client`. */
function shortDomain({ domain }: NamedGroup): string {
  return snake(domain.slice('kafka.'.length));
}

function snake(name: string): string {
  return name.replace(/[-.]/g, '_');
}

function tagLabels({ tags }: MetricSet, label: (tag: string) => string): Labels {
  return Object.fromEntries(Object.entries(tags).map(([tag, value]) => [label(tag), value]));
}

const STRIMZI_TEXTS: Readonly<Record<string, readonly string[]>> = {
  'connector-metrics': ['connector-class', 'connector-type', 'connector-version', 'status'],
  'connector-task-metrics': ['status'],
  'connect-worker-rebalance-metrics': ['leader-name', 'connect-protocol'],
};

/**
 * The names that jmx_exporter produces with the rules of Strimzi's examples (strimzi-kafka-operator,
 * kafka-connect-metrics.yaml): `kafka_connect_worker_connector_count`,
 * `kafka_connect_sink_task_sink_record_read_total{connector,task}`. Numeric attributes that the rules omit are named in the
 * same way; text attributes that the rules omit are left out.
 */
const strimzi: MetricNaming = {
  names(of, attribute, isText) {
    const { group, domain } = of;
    if (group === APP_INFO) {
      const prefix = `kafka_${shortDomain(of)}`;
      if (attribute === 'start-time-ms') return [{ name: `${prefix}_start_time_seconds`, factor: 0.001 }];
      return [{ name: `${prefix}_${snake(attribute)}_info`, valueLabel: snake(attribute) }];
    }
    const base = group.replace(/-metrics$/, '');
    const isOfTask = domain === 'kafka.connect' && !/^connect(-|$)/.test(base);
    const name = `kafka_${isOfTask ? 'connect_' : ''}${snake(base)}_${snake(attribute)}`;
    if (!isText) return [{ name }];
    return STRIMZI_TEXTS[group]?.includes(attribute) === true ? [{ name, valueLabel: snake(attribute) }] : [];
  },
  // The rules write `clientid` and `nodeid`.
  labels: (set) => tagLabels(set, (tag) => tag.replaceAll('-', '')),
};

/**
 * The names that jmx_exporter produces with Confluent's rules (confluentinc/jmx-monitoring-stacks, kafka_connect.yml):
 * `kafka_connect_connect_worker_metrics_connector_count{connector="aggregate"}`. Names that end in `_total` or `_info`
 * exist twice: jmx_exporter 1.x removes these endings, 0.x keeps them, and dashboards query both.
 */
const confluent: MetricNaming = {
  names(of, attribute, isText) {
    const prefix = `kafka_${shortDomain(of)}`;
    const valueLabel = snake(attribute);
    if (of.group === APP_INFO) return withoutEnding(`${prefix}_app_info`).map((name) => ({ name, valueLabel }));
    if (of.group === 'connector-metrics') return [{ name: `${prefix}_connector_metrics`, valueLabel }];
    if (isText) return [];
    return withoutEnding(`${prefix}_${snake(of.group)}_${snake(attribute)}`).map((name) => ({ name }));
  },
  labels(set) {
    if (set.group === 'connect-worker-metrics' && set.tags['connector'] === undefined) {
      return { connector: 'aggregate' };
    }
    const labels = tagLabels(set, snake);
    const isOfConnect = set.domain === 'kafka.connect';
    return isOfConnect ? labels : { client_type: set.domain.slice('kafka.'.length), ...labels };
  },
};

function withoutEnding(name: string): readonly string[] {
  const bare = name.replace(/_(?:total|info)$/, '');
  return bare === name ? [name] : [name, bare];
}

/**
 * The names of Strimzi's Metrics Reporter (io.strimzi.kafka.metrics.prometheus):
 * `kafka_connect_connect_worker_metrics_connector_count`,
 * `kafka_connect_connector_metrics_status_info{connector,status}`. An ending `_total` is removed.
 */
const reporter: MetricNaming = {
  names(of, attribute, isText) {
    const name = `kafka_${shortDomain(of)}_${snake(of.group)}_${snake(attribute)}`;
    return isText ? [{ name: `${name}_info`, valueLabel: snake(attribute) }] : [{ name: name.replace(/_total$/, '') }];
  },
  labels: (set) => tagLabels(set, snake),
};

export type NamingName = 'strimzi' | 'confluent' | 'reporter';

/** The valid values of `metrics.naming`. */
export const NAMINGS: Readonly<Record<NamingName, MetricNaming>> = { strimzi, confluent, reporter };
