import { healthOptions } from './health-options.ts';
import { declareOptions } from './option.ts';
import { restartOptions } from './restart-options.ts';
import { headerRules, listenerUrls, optionalListenerUrls } from './rest-validators.ts';
import { atLeast, between, distinctList, listOf, nullOr, oneOf, oneOfIgnoringCase } from './validators.ts';
import type { Validator } from './option.ts';

const POSITIVE = atLeast(1);
const THREADS: Validator = {
  ...POSITIVE,
  check: (name, value) =>
    value === 0
      ? 'Tasks always run in threads; remove this property. A plugin that needs the main thread declares needsMainThread'
      : POSITIVE.check(name, value),
};

/** Options of every worker: those of Connect's WorkerConfig, RestServerConfig and StandaloneConfig (4.3), and Sluice's own. */

export const commonWorkerOptions = declareOptions({
  'bootstrap.servers': {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Brokers to ask first, as `host:port`, separated by commas.',
    validator: distinctList({ emptyAllowed: false }),
  },
  'client.dns.lookup': {
    type: 'STRING',
    default: 'use_all_dns_ips',
    importance: 'MEDIUM',
    documentation: 'How names of brokers are resolved.',
    validator: oneOf('use_all_dns_ips', 'resolve_canonical_bootstrap_servers_only'),
  },
  'key.converter': {
    type: 'CLASS',
    importance: 'HIGH',
    documentation:
      'Converter for keys of connectors that do not name one; its settings are sub-keys `key.converter.…`.',
  },
  'key.converter.plugin.version': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Version of the key converter.',
  },
  'value.converter': {
    type: 'CLASS',
    importance: 'HIGH',
    documentation:
      'Converter for values of connectors that do not name one; its settings are sub-keys `value.converter.…`.',
  },
  'value.converter.plugin.version': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Version of the value converter.',
  },
  'task.shutdown.graceful.timeout.ms': {
    type: 'LONG',
    default: 5000,
    importance: 'LOW',
    documentation: 'Milliseconds that all tasks together have for an orderly stop.',
  },
  'offset.flush.interval.ms': {
    type: 'LONG',
    default: 60000,
    importance: 'LOW',
    documentation: 'Milliseconds between two commits of offsets.',
  },
  'offset.flush.timeout.ms': {
    type: 'LONG',
    default: 5000,
    importance: 'LOW',
    documentation: 'Milliseconds a commit of offsets may take before it is abandoned and tried again later.',
  },
  'plugin.path': {
    type: 'LIST',
    default: null,
    importance: 'LOW',
    documentation: 'Directories that hold plugins as npm packages. Java plugins in them are ignored.',
    validator: distinctList({ emptyAllowed: false, nullAllowed: true }),
  },
  'metrics.sample.window.ms': {
    type: 'LONG',
    default: 30000,
    importance: 'LOW',
    documentation: 'Milliseconds of one sample of a metric.',
    validator: atLeast(0),
  },
  'metrics.num.samples': {
    type: 'INT',
    default: 2,
    importance: 'LOW',
    documentation: 'Samples from which a metric is computed.',
    validator: atLeast(1),
  },
  'metrics.recording.level': {
    type: 'STRING',
    default: 'INFO',
    importance: 'LOW',
    documentation: 'How detailed metrics are.',
    validator: oneOf('INFO', 'DEBUG'),
  },
  'header.converter': {
    type: 'CLASS',
    default: 'org.apache.kafka.connect.storage.SimpleHeaderConverter',
    importance: 'LOW',
    documentation:
      'Converter for headers of connectors that do not name one; its settings are sub-keys `header.converter.…`.',
  },
  'header.converter.plugin.version': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Version of the header converter.',
  },
  'config.providers': {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: 'Names of config providers; each is set up by `config.providers.<name>.class` and `.param.…`.',
    validator: distinctList(),
  },
  'connector.client.config.override.policy': {
    type: 'STRING',
    default: 'All',
    importance: 'MEDIUM',
    documentation: 'Which client settings connectors may override: All, None, Principal or Allowlist.',
  },
  'connector.client.config.override.allowlist': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation: 'Client settings that connectors may override with the Allowlist policy.',
    validator: distinctList(),
  },
  'topic.creation.enable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether source connectors may have topics created by their `topic.creation.…` settings.',
  },
  'topic.tracking.enable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether the worker keeps track of the topics each connector uses.',
  },
  'topic.tracking.allow.reset': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether users may reset the set of topics a connector used.',
  },
});

export const restOptions = declareOptions({
  listeners: {
    type: 'LIST',
    default: 'http://:8083',
    importance: 'LOW',
    documentation:
      'Where the REST API listens, as `http://host:port` or `https://host:port`; no host means all addresses.',
    validator: listenerUrls,
  },
  'rest.advertised.host.name': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Host name by which other workers reach this one.',
  },
  'rest.advertised.port': {
    type: 'INT',
    default: null,
    importance: 'LOW',
    documentation: 'Port by which other workers reach this one.',
  },
  'rest.advertised.listener': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Protocol by which other workers reach this one: http or https.',
    validator: nullOr(oneOf('http', 'https')),
  },
  'access.control.allow.origin': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation: 'Origins from which browsers may call the REST API, separated by commas, or `*`; empty for none.',
  },
  'access.control.allow.methods': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation: 'Methods browsers may use from other origins; empty for GET, POST and HEAD.',
  },
  'response.http.headers.config': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation: 'Headers added to every answer: `[set|add|setDate|addDate] Name: value`, separated by commas.',
    validator: headerRules,
  },
  'rest.extension.classes': {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: 'Extensions of the REST API, in the order in which they are called.',
    validator: distinctList(),
  },
  'admin.listeners': {
    type: 'LIST',
    default: null,
    importance: 'LOW',
    documentation: 'Where the admin endpoints listen. Absent: where the others do; empty: nowhere.',
    validator: optionalListenerUrls,
  },
  'ssl.client.auth': {
    type: 'STRING',
    default: 'none',
    importance: 'LOW',
    documentation: 'Whether https clients must show a certificate.',
    validator: oneOf('required', 'requested', 'none'),
  },
});

/** Sluice's own options; Java workers ignore them. */
export const ownWorkerOptions = declareOptions({
  'json.converter.strict': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation:
      'Whether JsonConverter refuses values that it would otherwise damage silently: numbers that do not fit, values of another type, text after the end.',
  },
  'log.level': {
    type: 'STRING',
    default: 'info',
    importance: 'LOW',
    documentation: 'Lowest level that is logged.',
    validator: oneOfIgnoringCase('TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL', 'SILENT'),
  },
  'log.format': {
    type: 'STRING',
    default: 'auto',
    importance: 'LOW',
    documentation: '`json`: one object per line. `pretty`: for reading. `auto`: pretty on a terminal, else JSON.',
    validator: oneOf('auto', 'json', 'pretty'),
  },
  'task.threads': {
    type: 'INT',
    default: null,
    importance: 'MEDIUM',
    documentation: 'Threads that tasks share. By default one for each core, at least 2 and at most 8.',
    validator: nullOr(THREADS),
  },
  'task.hang.timeout.ms': {
    type: 'LONG',
    default: 60000,
    importance: 'MEDIUM',
    documentation:
      'Milliseconds after which a thread whose event loop is blocked is terminated. The task that blocks it becomes FAILED; the other tasks of the thread continue in a new one.',
    validator: atLeast(100),
  },
  services: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Services that run in this worker: `database-http`, the HTTP API of a database, set up by `database.http.…`.',
    validator: distinctList(),
  },
  'services.threads': {
    type: 'STRING',
    default: 'own',
    importance: 'LOW',
    documentation:
      'Where the services run. `own`: in a thread of their own; when it hangs (`task.hang.timeout.ms`) or ends, they start again in a new one. `main`: in the main thread, which saves its memory.',
    validator: oneOf('own', 'main'),
  },
  'metrics.listeners': {
    type: 'LIST',
    default: null,
    importance: 'LOW',
    documentation:
      'Where `/metrics` answers besides, as `http://host:port` or `https://host:port`, such as `http://0.0.0.0:9404`. Nothing else answers there, and extensions such as BasicAuthSecurityRestExtension do not hold. The settings of https are those of `listeners.https.…`.',
    validator: optionalListenerUrls,
  },
  'metrics.naming': {
    type: 'LIST',
    default: ['strimzi', 'confluent'],
    importance: 'LOW',
    documentation:
      "Names under which `/metrics` has the metrics of Connect: `strimzi` and `confluent`, as jmx_exporter gives them by the rules of those projects, `reporter`, as Strimzi's Metrics Reporter does.",
    validator: listOf(['strimzi', 'confluent', 'reporter']),
  },
  console: {
    type: 'STRING',
    default: 'on',
    importance: 'MEDIUM',
    documentation: 'Whether the REST API has the console for browsers at `/ui`: `on` or `off`.',
    validator: oneOf('on', 'off'),
  },
  'console.read.only': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation:
      'Whether the console only shows: it offers no changes and no previews of messages then, and those below `/ui/` are refused. What the REST API itself allows stays as it is.',
  },
  'allowed.hosts': {
    type: 'LIST',
    default: '',
    importance: 'MEDIUM',
    documentation:
      'Host names by which clients may call the REST API, as `name.example.org` or `*.example.org`; `*` allows every name. The check prevents DNS rebinding. Always allowed are IP addresses, names without a dot, names under `localhost`, `local`, `internal` and `svc`, and the names of the machine, of the listeners and `rest.advertised.host.name`.',
    validator: distinctList(),
  },
  'rest.max.connections': {
    type: 'INT',
    default: 500,
    importance: 'LOW',
    documentation:
      'Connections that each listener of the REST API has open at the same time; requests on further ones are answered 503. When there is no room, a connection that waits for a request is closed, the one idle for longest first; one that sends its first request, or is slow to send one, only gives way to other addresses while its own has more than half of all connections.',
    validator: atLeast(1),
  },
  'rest.basic.auth.credentials.file': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'File with `user=password` lines for BasicAuthSecurityRestExtension; instead of a JAAS file named in `KAFKA_OPTS`.',
  },
  'mixed.group': {
    type: 'STRING',
    default: 'refuse',
    importance: 'LOW',
    documentation:
      'Whether Java workers may be in the group of this worker: `refuse` or `allow`, for moving from or to them one worker at a time.',
    validator: oneOfIgnoringCase('ALLOW', 'REFUSE'),
  },
  'sluice.storage.topic': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Topic that holds what Sluice keeps beyond the records of Connect: counts of automatic restarts and the history of configurations, secrets included: it needs the protection of the config topic. Compacted, with one partition and the replication factor of the config topic. By default `<config.storage.topic>-sluice`. If it cannot be made, the worker keeps these data in memory. A standalone worker does not use it.',
  },
  'history.max.changes': {
    type: 'INT',
    default: 100,
    importance: 'LOW',
    documentation:
      'The number of changes of each connector that its history keeps. With a smaller number, the oldest are removed when the worker leads next; 0: there is no history, and what there is of it is removed. The same on all workers.',
    validator: between(0, 1000),
  },
  ...healthOptions,
  ...restartOptions,
  'internal.topics.automatic.creation.enable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether the worker creates its config, offset and status topics when they are missing.',
  },
});

export const standaloneOptions = declareOptions({
  'offset.storage.file.filename': {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'File in which the offsets of source connectors are kept.',
  },
});
