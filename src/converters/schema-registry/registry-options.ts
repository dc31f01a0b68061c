import { declareOptions, type ParsedOptions } from '../../config/option.ts';
import { atLeast, oneOf } from '../../config/validators.ts';
import type { ConnectorConfig, Converter } from '../../connect/api.ts';
import { converterType } from '../converter-type.ts';
import { RegistryClient } from './registry-client.ts';
import { RegistryConverter } from './registry-converter.ts';
import { registrySettings } from './registry-settings.ts';
import type { SchemaFormat } from './schema-format.ts';
import { subjectNaming, subjectStrategy } from './subject-names.ts';

const TOPIC_NAME_STRATEGY = 'io.confluent.kafka.serializers.subject.TopicNameStrategy';

/** Options of all converters with a registry (AbstractKafkaSchemaSerDeConfig, SchemaRegistryClientConfig). */
export const registryOptions = declareOptions({
  'converter.type': converterType,
  'schema.registry.url': {
    type: 'LIST',
    importance: 'HIGH',
    documentation:
      'URLs of the schema registry, for example `https://registry-1:8081,https://registry-2:8081`. The first URL may contain credentials, which apply to all URLs. If a registry is unavailable, the next URL is used.',
  },
  'auto.register.schemas': {
    type: 'BOOLEAN',
    default: true,
    importance: 'MEDIUM',
    documentation: 'Whether a schema that the registry does not have is registered when a record is written.',
  },
  'use.latest.version': {
    type: 'BOOLEAN',
    default: false,
    importance: 'LOW',
    documentation:
      'Whether records are written with the latest schema of the subject. Needs `auto.register.schemas=false`.',
  },
  'latest.compatibility.strict': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation:
      'Whether the latest schema must have all fields of the records. With `false`, fields that the schema does not have are left out.',
  },
  'latest.cache.ttl.sec': {
    type: 'INT',
    default: -1,
    importance: 'LOW',
    documentation: 'Seconds after which the latest schema is requested again, at least 1; -1 for never.',
  },
  'use.schema.id': {
    type: 'INT',
    default: -1,
    importance: 'LOW',
    documentation: 'Id of the schema with which records are written; -1 for none. Needs `auto.register.schemas=false`.',
  },
  'id.compatibility.strict': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation:
      'Whether the schema of `use.schema.id` must have all fields of the records. With `false`, fields that the schema does not have are left out.',
  },
  'normalize.schemas': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether the registry compares schemas in their normal form when it looks up or registers a schema.',
  },
  'key.subject.name.strategy': {
    type: 'CLASS',
    default: TOPIC_NAME_STRATEGY,
    importance: 'MEDIUM',
    documentation: 'Strategy for the subject names of keys.',
    validator: subjectStrategy,
  },
  'value.subject.name.strategy': {
    type: 'CLASS',
    default: TOPIC_NAME_STRATEGY,
    importance: 'MEDIUM',
    documentation: 'Strategy for the subject names of values.',
    validator: subjectStrategy,
  },
  'schemas.cache.config': {
    type: 'INT',
    default: 1000,
    importance: 'LOW',
    documentation: 'Number of schemas that are cached in memory.',
    validator: atLeast(1),
  },
  'basic.auth.credentials.source': {
    type: 'STRING',
    default: 'URL',
    importance: 'MEDIUM',
    documentation:
      'Where user and password are configured: in `schema.registry.url` (URL), `basic.auth.user.info` (USER_INFO) or `sasl.jaas.config` (SASL_INHERIT).',
    validator: oneOf('URL', 'USER_INFO', 'SASL_INHERIT'),
  },
  'basic.auth.user.info': {
    type: 'PASSWORD',
    default: null,
    importance: 'MEDIUM',
    documentation: 'User and password as `user:password`, for `basic.auth.credentials.source=USER_INFO`.',
  },
  'bearer.auth.credentials.source': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation: '`STATIC_TOKEN` sends `bearer.auth.token` with each request.',
  },
  'bearer.auth.token': {
    type: 'PASSWORD',
    default: null,
    importance: 'MEDIUM',
    documentation: 'The token for `bearer.auth.credentials.source=STATIC_TOKEN`.',
  },
  'http.connect.timeout.ms': {
    type: 'INT',
    default: 60_000,
    importance: 'LOW',
    documentation:
      'Milliseconds for connecting to the registry. A whole request may take as long as this time and `http.read.timeout.ms` together.',
    validator: atLeast(1),
  },
  'http.read.timeout.ms': {
    type: 'INT',
    default: 60_000,
    importance: 'LOW',
    documentation: 'Milliseconds for which a connected registry may send nothing before a request fails.',
    validator: atLeast(1),
  },
  'max.retries': {
    type: 'INT',
    default: 3,
    importance: 'LOW',
    documentation: 'How often a request to all URLs is retried before `errors.retry.timeout` applies.',
    validator: atLeast(0),
  },
  'retries.wait.ms': {
    type: 'INT',
    default: 1000,
    importance: 'LOW',
    documentation:
      'Longest wait before the first retry, in milliseconds; the actual wait is at least half of it. The wait doubles with each further retry.',
    validator: atLeast(0),
  },
  'retries.max.wait.ms': {
    type: 'INT',
    default: 20_000,
    importance: 'LOW',
    documentation: 'Longest wait before a retry, in milliseconds.',
    validator: atLeast(0),
  },
});

type RegistryOptions = ParsedOptions<typeof registryOptions>;

/** Creates a converter for a format with a client of its registry. Throws a ConfigError that names an invalid option. */
export function registryConverter(
  format: SchemaFormat,
  options: RegistryOptions,
  config: ConnectorConfig,
  isKey: boolean,
): Converter {
  const latestSeconds = options['latest.cache.ttl.sec'];
  const cacheSize = options['schemas.cache.config'];
  const client = new RegistryClient({
    settings: registrySettings(config),
    schemaType: format.schemaType,
    normalize: options['normalize.schemas'],
    cacheSize,
    // The minimum is one second, because a request for each record would be too slow.
    latestTtlMs: latestSeconds < 0 ? undefined : Math.max(1, latestSeconds) * 1000,
  });
  const register = options['auto.register.schemas'];
  const naming = subjectNaming(options[isKey ? 'key.subject.name.strategy' : 'value.subject.name.strategy'], isKey);
  return new RegistryConverter({ format, client, naming, cacheSize, register, ...targetOf(options) });
}

/** As in Java, a converter that registers schemas writes with them; `use.schema.id` and `use.latest.version` are then ignored. */
function targetOf(options: RegistryOptions) {
  const id = options['use.schema.id'];
  if (options['auto.register.schemas']) return { target: 'own', strict: true } as const;
  if (id >= 0) return { target: { id }, strict: options['id.compatibility.strict'] } as const;
  if (options['use.latest.version'])
    return { target: 'latest', strict: options['latest.compatibility.strict'] } as const;
  return { target: 'own', strict: true } as const;
}
