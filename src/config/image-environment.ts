import { namesMetricsReporter } from './client-options.ts';
import type { Properties } from './worker-config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Debezium's image requires this variable. Most other variables of the image have general names, such as `GROUP_ID`, so
 * they are read only if this variable is set. `ENABLE_JMX_EXPORTER` is always read.
 */
const DEBEZIUM_SIGN = 'CONFIG_STORAGE_TOPIC';

/** Variables of Debezium's image without the prefix `CONNECT_`, and their properties. */
const DEBEZIUM_PROPERTIES: Readonly<Record<string, string>> = {
  BOOTSTRAP_SERVERS: 'bootstrap.servers',
  GROUP_ID: 'group.id',
  CONFIG_STORAGE_TOPIC: 'config.storage.topic',
  OFFSET_STORAGE_TOPIC: 'offset.storage.topic',
  STATUS_STORAGE_TOPIC: 'status.storage.topic',
  KEY_CONVERTER: 'key.converter',
  VALUE_CONVERTER: 'value.converter',
  ADVERTISED_HOST_NAME: 'rest.advertised.host.name',
  ADVERTISED_PORT: 'rest.advertised.port',
  OFFSET_FLUSH_INTERVAL_MS: 'offset.flush.interval.ms',
  OFFSET_FLUSH_TIMEOUT_MS: 'offset.flush.timeout.ms',
  SHUTDOWN_TIMEOUT: 'task.shutdown.graceful.timeout.ms',
  KAFKA_CONNECT_PLUGINS_DIR: 'plugin.path',
};

/** Defaults of Debezium's image. */
const DEBEZIUM_DEFAULTS: Properties = {
  'group.id': '1',
  'status.storage.topic': 'connect-status',
  'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
};

/** The address at which the images of Debezium and Strimzi expose metrics for Prometheus. */
const METRICS_LISTENER = 'http://0.0.0.0:9404';

/**
 * Worker properties from the variables of the images of Debezium (docker-entrypoint.sh) and Strimzi
 * (KafkaConnectCluster of the operator) other than `CONNECT_*`. Properties files and `CONNECT_*` variables take
 * precedence.
 */
export function imageProperties(environment: Environment): Properties {
  return { ...debeziumProperties(environment), ...metricsProperties(environment) };
}

/**
 * Adds `metrics.naming`, and `metrics.listeners` unless the reporter's listener is disabled, if the properties
 * configure Strimzi's Metrics Reporter (`metricsConfig.type: strimziMetricsReporter` of a KafkaConnect resource).
 * Existing properties take precedence.
 */
export function withMetricsReporter(properties: Properties): Properties {
  if (!namesMetricsReporter(properties['metric.reporters'])) return properties;
  const isOn = properties['prometheus.metrics.reporter.listener.enable']?.trim() !== 'false';
  const listener = properties['prometheus.metrics.reporter.listener'] ?? 'http://:8080';
  return { ...(isOn ? { 'metrics.listeners': listener } : {}), 'metrics.naming': 'reporter', ...properties };
}

function debeziumProperties(environment: Environment): Properties {
  if (given(environment, DEBEZIUM_SIGN) === undefined) return {};
  const properties: Record<string, string> = { ...DEBEZIUM_DEFAULTS };
  for (const [variable, property] of Object.entries(DEBEZIUM_PROPERTIES)) {
    const value = given(environment, variable);
    if (value !== undefined) properties[property] = value;
  }
  const host = given(environment, 'REST_HOST_NAME');
  const port = given(environment, 'REST_PORT');
  if (host !== undefined || port !== undefined) properties['listeners'] = `http://${host ?? ''}:${port ?? '8083'}`;
  const level = given(environment, 'LOG_LEVEL');
  return level === undefined ? properties : { ...properties, 'log.level': level.toLowerCase() };
}

function metricsProperties(environment: Environment): Properties {
  const switches = ['KAFKA_CONNECT_JMX_EXPORTER_ENABLED', 'KAFKA_CONNECT_METRICS_ENABLED', 'ENABLE_JMX_EXPORTER'];
  const isOn = switches.some((variable) => given(environment, variable) === 'true');
  return isOn ? { 'metrics.listeners': METRICS_LISTENER } : {};
}

function given(environment: Environment, variable: string): string | undefined {
  const value = environment[variable]?.trim() ?? '';
  return value === '' ? undefined : value;
}
