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

/** Options of workers: those of Connect's WorkerConfig, RestServerConfig and StandaloneConfig (4.3), and Sluice's own. */

export const commonWorkerOptions = declareOptions({
  'bootstrap.servers': {
    type: 'LIST',
    importance: 'HIGH',
    documentation: 'Brokers to connect to first, for example `broker-1:9092,broker-2:9092`.',
    validator: distinctList({ emptyAllowed: false }),
  },
  'client.dns.lookup': {
    type: 'STRING',
    default: 'use_all_dns_ips',
    importance: 'MEDIUM',
    documentation: "How the client uses the IP addresses of a broker's host name.",
    validator: oneOf('use_all_dns_ips', 'resolve_canonical_bootstrap_servers_only'),
  },
  'key.converter': {
    type: 'CLASS',
    importance: 'HIGH',
    documentation:
      'Converter for the keys of connectors that do not set one. The options of the converter have the prefix `key.converter.`. Example: `org.apache.kafka.connect.storage.StringConverter`.',
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
      'Converter for the values of connectors that do not set one. The options of the converter have the prefix `value.converter.`. Example: `org.apache.kafka.connect.json.JsonConverter`.',
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
    documentation:
      'Milliseconds within which all tasks together must shut down. After this time, the threads of the remaining tasks are terminated.',
  },
  'offset.flush.interval.ms': {
    type: 'LONG',
    default: 60000,
    importance: 'LOW',
    documentation: 'Milliseconds after which offsets are committed at the latest.',
  },
  'offset.flush.timeout.ms': {
    type: 'LONG',
    default: 5000,
    importance: 'LOW',
    documentation: 'Milliseconds that an offset commit may take before it is abandoned and retried later.',
  },
  'plugin.path': {
    type: 'LIST',
    default: null,
    importance: 'LOW',
    documentation:
      'Directories of npm packages with plugins, or names of installed packages, for example `/opt/plugins,@acme/webhooks`. Java plugins are ignored.',
    validator: distinctList({ emptyAllowed: false, nullAllowed: true }),
  },
  'metrics.sample.window.ms': {
    type: 'LONG',
    default: 30000,
    importance: 'LOW',
    documentation: 'Milliseconds that one sample of a metric covers.',
    validator: atLeast(0),
  },
  'metrics.num.samples': {
    type: 'INT',
    default: 2,
    importance: 'LOW',
    documentation: 'Number of samples from which a metric is computed.',
    validator: atLeast(1),
  },
  'metrics.recording.level': {
    type: 'STRING',
    default: 'INFO',
    importance: 'LOW',
    documentation: 'Level of detail of the metrics.',
    validator: oneOf('INFO', 'DEBUG'),
  },
  'header.converter': {
    type: 'CLASS',
    default: 'org.apache.kafka.connect.storage.SimpleHeaderConverter',
    importance: 'LOW',
    documentation:
      'Converter for the headers of connectors that do not set one. The options of the converter have the prefix `header.converter.`.',
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
    documentation:
      'Names of config providers, for example `file,env`. Each is configured by `config.providers.NAME.class` and `config.providers.NAME.param.…`.',
    validator: distinctList(),
  },
  'connector.client.config.override.policy': {
    type: 'STRING',
    default: 'All',
    importance: 'MEDIUM',
    documentation: 'Which client settings connectors may override: `All`, `None`, `Principal` or `Allowlist`.',
  },
  'connector.client.config.override.allowlist': {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Client settings that connectors may override with the policy `Allowlist`, for example `max.poll.records,client.rack`.',
    validator: distinctList(),
  },
  'topic.creation.enable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether the worker creates topics for source connectors that have `topic.creation.…` settings.',
  },
  'topic.tracking.enable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether the worker tracks the topics that each connector uses.',
  },
  'topic.tracking.allow.reset': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation: 'Whether users may reset the set of topics that a connector used.',
  },
});

export const restOptions = declareOptions({
  listeners: {
    type: 'LIST',
    default: 'http://:8083',
    importance: 'LOW',
    documentation:
      'Addresses on which the REST API listens, as `http://host:port` or `https://host:port`. Without a host it listens on all addresses.',
    validator: listenerUrls,
  },
  'rest.advertised.host.name': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Host name at which other workers reach this one. Default: the host of the first listener (with the protocol `rest.advertised.listener`, if set), or the first external IPv4 address of the machine if this host is empty, `0.0.0.0` or `::`.',
  },
  'rest.advertised.port': {
    type: 'INT',
    default: null,
    importance: 'LOW',
    documentation:
      'Port at which other workers reach this one. Default: the port of the first listener (with the protocol `rest.advertised.listener`, if set).',
  },
  'rest.advertised.listener': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Protocol with which other workers reach this one. Default: the protocol of the first listener.',
    validator: nullOr(oneOf('http', 'https')),
  },
  'access.control.allow.origin': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation:
      'Origins from which browsers may call the REST API, for example `https://app.example.org`; `*` for all, empty for none. Several are separated by commas.',
  },
  'access.control.allow.methods': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation:
      'Methods that browsers may use from other origins, for example `GET,PUT`; empty for GET, POST and HEAD.',
  },
  'response.http.headers.config': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation:
      'Headers added to every response, as `[set|add|setDate|addDate] Name: value`, separated by commas. Example: `add Cache-Control: no-cache`.',
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
    documentation:
      'Addresses of the endpoints below `/admin`, for example `http://127.0.0.1:8084`. If absent, these endpoints use `listeners`; if empty, they are off.',
    validator: optionalListenerUrls,
  },
  'ssl.client.auth': {
    type: 'STRING',
    default: 'none',
    importance: 'LOW',
    documentation: 'Whether https clients must present a certificate.',
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
      'Whether JsonConverter refuses values that it would otherwise change silently. The option concerns numbers that are too large for their type, values of another type, and text after the end of the JSON.',
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
    documentation:
      '`json`: one JSON object per line. `pretty`: plain text. `auto`: `pretty` on a terminal, otherwise `json`.',
    validator: oneOf('auto', 'json', 'pretty'),
  },
  'task.threads': {
    type: 'INT',
    default: null,
    importance: 'MEDIUM',
    documentation: 'Number of threads that tasks share. Default: one per core, at least 2 and at most 8.',
    validator: nullOr(THREADS),
  },
  'task.hang.timeout.ms': {
    type: 'LONG',
    default: 60000,
    importance: 'MEDIUM',
    documentation:
      'Milliseconds for which code may block the event loop of a thread before the thread is terminated. The task whose code blocked the event loop becomes FAILED; the other tasks of the thread continue in another thread.',
    validator: atLeast(100),
  },
  services: {
    type: 'LIST',
    default: [],
    importance: 'MEDIUM',
    documentation:
      'Services that run in this worker. The only service is `database-http`, the HTTP API of a database, which is configured by `database.http.…`.',
    validator: distinctList(),
  },
  'services.threads': {
    type: 'STRING',
    default: 'own',
    importance: 'LOW',
    documentation:
      'Where the services run. `own`: in their own thread; if it hangs (`task.hang.timeout.ms`) or exits, the services restart in a new thread. `main`: in the main thread, which saves memory.',
    validator: oneOf('own', 'main'),
  },
  'metrics.listeners': {
    type: 'LIST',
    default: null,
    importance: 'LOW',
    documentation:
      'Additional addresses that serve only `/metrics`, for example `http://0.0.0.0:9404`. Extensions such as BasicAuthSecurityRestExtension do not apply to these addresses. For https, the settings `listeners.https.…` are used.',
    validator: optionalListenerUrls,
  },
  'metrics.naming': {
    type: 'LIST',
    default: ['strimzi', 'confluent'],
    importance: 'LOW',
    documentation:
      "Names under which `/metrics` publishes Connect's metrics. `strimzi` and `confluent` are the names that jmx_exporter produces with the rules of these projects; `reporter` are the names of Strimzi's Metrics Reporter.",
    validator: listOf(['strimzi', 'confluent', 'reporter']),
  },
  console: {
    type: 'STRING',
    default: 'on',
    importance: 'MEDIUM',
    documentation: 'Whether the REST API serves the browser console at `/ui`.',
    validator: oneOf('on', 'off'),
  },
  'console.read.only': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation:
      'Whether the console refuses changes, dry runs and lists of the tables of a database. The option does not affect the REST API.',
  },
  'console.title': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation:
      'Name of the environment, for example `production`, which the console shows at the top of each page and in the title of the window.',
  },
  'allowed.hosts': {
    type: 'LIST',
    default: '',
    importance: 'MEDIUM',
    documentation:
      'Host names by which clients may call the REST API, for example `connect.example.org,*.example.net`; `*` allows every name. The check prevents DNS rebinding. Always allowed are IP addresses, names without a dot, names under `localhost`, `local`, `internal` and `svc`, and the names of the machine, of the listeners and `rest.advertised.host.name`.',
    validator: distinctList(),
  },
  'rest.max.connections': {
    type: 'INT',
    default: 500,
    importance: 'LOW',
    documentation:
      'Maximum number of open connections per listener of the REST API. At the limit, the worker closes an idle connection for each new one. It chooses the client address with the most connections, and closes the one that has been idle longest. A connection whose request is still arriving is closed only if its client address has more than half of the allowed connections, and only for a client with another address. If no connection can be closed, requests on the new one return 503.',
    validator: atLeast(1),
  },
  'rest.basic.auth.credentials.file': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'File with a line `user=password` per user for BasicAuthSecurityRestExtension. It replaces the JAAS file that `KAFKA_OPTS` names.',
  },
  'mixed.group': {
    type: 'STRING',
    default: 'refuse',
    importance: 'LOW',
    documentation:
      'Whether Java workers may be in the group of this worker. Set `allow` while you migrate from or to Java workers one at a time.',
    validator: oneOfIgnoringCase('ALLOW', 'REFUSE'),
  },
  'sluice.storage.topic': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation:
      'Topic for state that Kafka Connect does not have: restart counts, the history of configurations, and replays of dead letters. Default: `<config.storage.topic>-sluice`. The history includes secrets, so protect this topic like the config topic. The topic is compacted, with one partition and the replication factor of the config topic. If the topic cannot be created or used, the worker keeps this state in memory. A standalone worker does not use it.',
  },
  'history.max.changes': {
    type: 'INT',
    default: 100,
    importance: 'LOW',
    documentation:
      'Maximum number of changes per connector that the history keeps; 0 turns the history off. Use the same value on all workers. If you lower the value, the oldest changes are removed when a worker with the new value becomes leader; with 0, all changes are removed.',
    validator: between(0, 1000),
  },
  ...healthOptions,
  ...restartOptions,
  'internal.topics.automatic.creation.enable': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation:
      'Whether the worker creates missing internal topics. With `false`, it does not start without its config, offset and status topics.',
  },
});

export const standaloneOptions = declareOptions({
  'offset.storage.file.filename': {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'File with the offsets of source connectors, for example `/var/lib/sluice/offsets`.',
  },
});
