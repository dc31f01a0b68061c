import { ConfigError, toError } from '../errors.ts';
import { clientOptions, honouredKeys, javaOnlyKeys, javaOnlyPrefixes, namesMetricsReporter } from './client-options.ts';
import { distributedOptions } from './distributed-options.ts';
import { didYouMean } from './nearest.ts';
import type { OptionDeclarations, ParsedOptions } from './option.ts';
import { parseOptions } from './parse.ts';
import { commonWorkerOptions, ownWorkerOptions, restOptions, standaloneOptions } from './worker-options.ts';

export type Properties = Readonly<Record<string, string>>;

/** An internal topic; partitions, replication factor and `settings` apply when it is created. */
export interface InternalTopic {
  readonly name: string;
  /** -1 for the broker's default. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly settings: Properties;
  /** Whether the worker creates the topic if it is missing. */
  readonly mayCreate: boolean;
}

interface WorkerConfigBase {
  readonly common: ParsedOptions<typeof commonWorkerOptions>;
  readonly rest: ParsedOptions<typeof restOptions>;
  readonly own: ParsedOptions<typeof ownWorkerOptions>;
  /** `key.converter`, `value.converter`, `header.converter` and their sub-keys. */
  readonly converterConfig: Properties;
  readonly clients: WorkerClientProperties;
  /** `config.providers.<name>.…`, without `config.providers.`. */
  readonly configProviders: Properties;
  /** All properties as text. */
  readonly properties: Properties;
  /** Sentences to log, one for each key that is ignored, obsolete or probably misspelt. */
  readonly warnings: readonly string[];
}

export interface DistributedWorkerConfig extends WorkerConfigBase {
  readonly mode: 'distributed';
  readonly distributed: ParsedOptions<typeof distributedOptions>;
  readonly topics: {
    readonly config: InternalTopic;
    readonly offset: InternalTopic;
    readonly status: InternalTopic;
    /** Sluice's own topic (`sluice.storage.topic`), for state that Kafka Connect does not have. */
    readonly own: InternalTopic;
  };
}

export interface StandaloneWorkerConfig extends WorkerConfigBase {
  readonly mode: 'standalone';
  readonly standalone: ParsedOptions<typeof standaloneOptions>;
}

export type WorkerConfig = DistributedWorkerConfig | StandaloneWorkerConfig;

/**
 * Java client properties per kind of client. Producers and consumers of connectors inherit only `bootstrap.servers` from the
 * unprefixed keys, admin clients all of them (org.apache.kafka.connect.runtime.Worker).
 */
export interface WorkerClientProperties {
  /** Properties of the worker's own clients (group, internal topics). */
  readonly worker: Properties;
  readonly producer: Properties;
  readonly consumer: Properties;
  readonly admin: Properties;
}

/** Families of keys without individual declarations. */
const OPEN_PREFIXES: readonly string[] = [
  'key.converter.',
  'value.converter.',
  'header.converter.',
  'producer.',
  'consumer.',
  'admin.',
  'config.providers.',
  'metrics.context.',
  'listeners.https.',
  'admin.listeners.https.',
  'ssl.',
  'sasl.',
  // Services check their own keys.
  'database.http.',
];
const TOPIC_PREFIXES: readonly string[] = ['config.storage.', 'offset.storage.', 'status.storage.'];

/** Unprefixed options that also apply to Kafka clients. */
const SHARED_CLIENT_KEYS: readonly string[] = [
  'bootstrap.servers',
  'client.dns.lookup',
  'client.id',
  'metadata.max.age.ms',
  'send.buffer.bytes',
  'receive.buffer.bytes',
  'reconnect.backoff.ms',
  'reconnect.backoff.max.ms',
  'socket.connection.setup.timeout.ms',
  'socket.connection.setup.timeout.max.ms',
  'retry.backoff.ms',
  'retry.backoff.max.ms',
  'request.timeout.ms',
  'connections.max.idle.ms',
  'metadata.recovery.strategy',
  'metadata.recovery.rebootstrap.trigger.ms',
  'metrics.num.samples',
  'metrics.sample.window.ms',
  'security.protocol',
];

/**
 * Loads a worker's configuration from its properties (file and environment merged). Throws one ConfigError with all missing and
 * invalid keys, one per line. Unknown keys are ignored, with a warning each.
 */
export function loadWorkerConfig(source: {
  readonly mode: WorkerConfig['mode'];
  readonly properties: Properties;
}): WorkerConfig {
  const { mode } = source;
  const warnings: string[] = [];
  const properties = withListenersOfOldKeys(source.properties, warnings);
  const errors: string[] = [];
  const read = <D extends OptionDeclarations>(declarations: D): ParsedOptions<D> => {
    try {
      return parseOptions(declarations, properties);
    } catch (error) {
      errors.push(toError(error).message);
      return {} as ParsedOptions<D>;
    }
  };
  const base = {
    common: read(commonWorkerOptions),
    rest: read(restOptions),
    own: read(ownWorkerOptions),
    converterConfig: converterConfig(properties),
    clients: clientProperties(properties),
    configProviders: withPrefix(properties, 'config.providers.'),
    properties,
    warnings,
  };
  read(clientOptions);
  const config: WorkerConfig =
    mode === 'standalone'
      ? { ...base, mode, standalone: read(standaloneOptions) }
      : { ...base, mode, ...distributedParts(read(distributedOptions), base, warnings) };
  const unused = unusedKeyWarnings(mode, properties);
  if (errors.length > 0) throw new ConfigError([...errors, ...unused.filter(isMisspelling)].join('\n'));
  warnings.push(...unused);
  return config;
}

function distributedParts(
  distributed: ParsedOptions<typeof distributedOptions>,
  { own, properties }: Pick<WorkerConfigBase, 'own' | 'properties'>,
  warnings: string[],
): Pick<DistributedWorkerConfig, 'distributed' | 'topics'> {
  const mayCreate = own['internal.topics.automatic.creation.enable'];
  const topic = (kind: 'config' | 'offset' | 'status', partitions: number): InternalTopic => ({
    name: distributed[`${kind}.storage.topic`],
    partitions,
    replicationFactor: distributed[`${kind}.storage.replication.factor`],
    settings: topicSettings(kind, properties, warnings),
    mayCreate,
  });
  return {
    distributed,
    topics: {
      config: topic('config', 1),
      offset: topic('offset', distributed['offset.storage.partitions']),
      status: topic('status', distributed['status.storage.partitions']),
      own: {
        name: own['sluice.storage.topic'] ?? `${distributed['config.storage.topic']}-sluice`,
        partitions: 1,
        replicationFactor: distributed['config.storage.replication.factor'],
        settings: {},
        mayCreate,
      },
    },
  };
}

/**
 * The settings with which an internal topic is created: the keys under `config.storage.`, `offset.storage.` or
 * `status.storage.` that are not options of the worker. `cleanup.policy` and `config.storage.partitions` are ignored
 * with a warning.
 */
function topicSettings(kind: string, properties: Properties, warnings: string[]): Properties {
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(withPrefix(properties, `${kind}.storage.`))) {
    const key = `${kind}.storage.${name}`;
    if (Object.hasOwn(distributedOptions, key) || Object.hasOwn(standaloneOptions, key)) continue;
    if (name === 'cleanup.policy') warnings.push(`${key} is ignored: internal topics are always compacted`);
    else if (name === 'partitions') warnings.push(`${key} is ignored: the config topic always has one partition`);
    else settings[name] = value;
  }
  return settings;
}

/** Connect 3.0 removed `rest.port` and `rest.host.name`, but files and images still set them. */
function withListenersOfOldKeys(properties: Properties, warnings: string[]): Properties {
  const { 'rest.port': port, 'rest.host.name': host, ...rest } = properties;
  if (port === undefined && host === undefined) return properties;
  if (rest['listeners'] !== undefined) {
    warnings.push('rest.port and rest.host.name are ignored: listeners is set');
    return rest;
  }
  const listeners = `http://${host ?? ''}:${port ?? '8083'}`;
  warnings.push(`rest.port and rest.host.name are obsolete; using listeners=${listeners}`);
  return { ...rest, listeners };
}

function converterConfig(properties: Properties): Properties {
  const header = commonWorkerOptions['header.converter'].default;
  const given = Object.entries(properties).filter(([key]) => /^(key|value|header)\.converter($|\.)/.test(key));
  return { 'header.converter': header, ...Object.fromEntries(given) };
}

function clientProperties(properties: Properties): WorkerClientProperties {
  const shared = Object.entries(properties).filter(
    ([key]) =>
      SHARED_CLIENT_KEYS.includes(key) ||
      key.startsWith('sasl.') ||
      (key.startsWith('ssl.') && !Object.hasOwn(restOptions, key)),
  );
  const worker = Object.fromEntries(shared);
  const bootstrap = { 'bootstrap.servers': properties['bootstrap.servers'] ?? '' };
  return {
    worker,
    producer: { ...bootstrap, ...withPrefix(properties, 'producer.') },
    consumer: { ...bootstrap, ...withPrefix(properties, 'consumer.') },
    admin: { ...worker, ...withPrefix(properties, 'admin.') },
  };
}

/** The entries under a prefix, with the prefix removed. */
export function withPrefix(properties: Properties, prefix: string): Record<string, string> {
  const entries = Object.entries(properties).filter(([key]) => key.startsWith(prefix) && key.length > prefix.length);
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length), value]));
}

/** Whether a warning suggests another key. These warnings are reported with the errors, because a missing key may be misspelt. */
function isMisspelling(warning: string): boolean {
  return warning.includes('did you mean');
}

function unusedKeyWarnings(mode: WorkerConfig['mode'], properties: Properties): string[] {
  const declared = { ...commonWorkerOptions, ...restOptions, ...ownWorkerOptions, ...clientOptions };
  const ofMode = mode === 'standalone' ? standaloneOptions : distributedOptions;
  const known = [...Object.keys({ ...declared, ...ofMode }), ...SHARED_CLIENT_KEYS];
  return Object.keys(properties).flatMap((key) => {
    if (key === 'metric.reporters' && namesMetricsReporter(properties[key])) return [];
    const isOfFamily = !honouredKeys.has(key) && javaOnlyPrefixes.some((prefix) => key.startsWith(prefix));
    if (javaOnlyKeys.has(key) || isOfFamily) {
      return [`${key} is ignored: it only means something to a Java worker`];
    }
    if (Object.hasOwn(declared, key) || Object.hasOwn(ofMode, key)) return [];
    if (honouredKeys.has(key)) return [];
    if (OPEN_PREFIXES.some((prefix) => key.startsWith(prefix))) return [];
    if (SHARED_CLIENT_KEYS.includes(key)) return [];
    if (mode === 'distributed' && TOPIC_PREFIXES.some((prefix) => key.startsWith(prefix))) return [];
    if (Object.hasOwn(distributedOptions, key) || Object.hasOwn(standaloneOptions, key)) {
      return [`${key} is ignored: it means nothing to a ${mode} worker`];
    }
    return [`${key} is ignored: no such option${didYouMean(key, known)}`];
  });
}
