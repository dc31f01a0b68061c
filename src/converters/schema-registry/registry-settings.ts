import type { ConnectionOptions } from 'node:tls';
import { ConfigError } from '../../errors.ts';
import { PropertyReader } from '../../config/property-reader.ts';
import { parseJaas } from '../../tls/jaas.ts';
import { tlsOptions } from '../../tls/tls-config.ts';
import type { ConnectorConfig } from '../../connect/api.ts';

/** Connection settings of the registry. */
export interface RegistrySettings {
  /** URLs without credentials. Each may have a path. */
  readonly urls: readonly URL[];
  /** Headers of every request. They may contain credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: ConnectionOptions;
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly maxRetries: number;
  readonly retryWaitMs: number;
  readonly retryMaxWaitMs: number;
}

/**
 * Reads a converter's settings for the registry client. All options except `request.header.X` may also have the prefix
 * `schema.registry.`.
 */
export function registrySettings(config: ConnectorConfig): RegistrySettings {
  const properties = new PropertyReader({ ...config, ...withoutNamespace(config) });
  const urls = properties.list('url').map(parseUrl);
  const [first] = urls;
  if (first === undefined) {
    throw new ConfigError('Missing required configuration "schema.registry.url" which has no default value.');
  }
  const headers = { ...extraHeaders(config), ...bearer(properties), ...basic(properties, first) };
  return {
    urls: urls.map(withoutCredentials),
    headers,
    tls: tlsOptions(properties)(),
    connectTimeoutMs: properties.durationMs('http.connect.timeout.ms', 60_000, 1),
    readTimeoutMs: properties.durationMs('http.read.timeout.ms', 60_000, 1),
    maxRetries: properties.int('max.retries', 3),
    retryWaitMs: properties.durationMs('retries.wait.ms', 1000),
    retryMaxWaitMs: properties.durationMs('retries.max.wait.ms', 20_000),
  };
}

const NAMESPACE = 'schema.registry.';

function withoutNamespace(config: ConnectorConfig): ConnectorConfig {
  const entries = Object.entries(config).filter(([name]) => name.startsWith(NAMESPACE));
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(NAMESPACE.length), value]));
}

/** The error message does not quote the text because it may contain a password. */
function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError('Invalid value for configuration schema.registry.url: expected URLs like http://host:8081');
  }
  return url;
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare;
}

/** Headers from options of the form `request.header.X=value`. */
function extraHeaders(config: ConnectorConfig): Record<string, string> {
  const prefix = 'request.header.';
  const entries = Object.entries(config).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(prefix.length), value]));
}

function basic(properties: PropertyReader, url: URL): Record<string, string> {
  const source = properties.choice('basic.auth.credentials.source', ['URL', 'USER_INFO', 'SASL_INHERIT'], 'URL');
  const user = {
    URL: () => urlUser(url),
    USER_INFO: () => userInfo(properties),
    SASL_INHERIT: () => saslUser(properties),
  };
  const text = user[source]();
  return text === undefined ? {} : { authorization: `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}

function urlUser({ username, password }: URL): string | undefined {
  return username === '' ? undefined : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
}

function userInfo(properties: PropertyReader): string {
  return properties.text('basic.auth.user.info') ?? refuse('basic.auth.user.info', 'basic.auth.credentials.source');
}

function saslUser(properties: PropertyReader): string {
  const { username, password } = parseJaas(properties.required('sasl.jaas.config')).options;
  if (username === undefined || password === undefined) {
    throw new ConfigError(
      'sasl.jaas.config names no username and password for basic.auth.credentials.source=SASL_INHERIT',
    );
  }
  return `${username}:${password}`;
}

function bearer(properties: PropertyReader): Record<string, string> {
  const source = properties.text('bearer.auth.credentials.source');
  if (source === undefined) return {};
  if (source.toUpperCase() !== 'STATIC_TOKEN') {
    throw new ConfigError(
      'Invalid value for configuration bearer.auth.credentials.source: String must be one of: STATIC_TOKEN',
    );
  }
  const token = properties.text('bearer.auth.token') ?? refuse('bearer.auth.token', 'bearer.auth.credentials.source');
  const cluster = properties.text('bearer.auth.logical.cluster');
  const pool = properties.text('bearer.auth.identity.pool.id');
  return {
    authorization: `Bearer ${token}`,
    ...(cluster === undefined ? {} : { 'target-sr-cluster': cluster }),
    ...(pool === undefined ? {} : { 'confluent-identity-pool-id': pool }),
  };
}

function refuse(missing: string, because: string): never {
  throw new ConfigError(`${missing} must be given, because ${because} requires it`);
}
