import { ConfigError } from '../../errors.ts';
import { parseJaas, type JaasConfig } from '../../tls/jaas.ts';
import { jaasFileOf, loginModule } from '../../tls/jaas-file.ts';
import { httpRequest } from '../../http/http-client.ts';
import { AuthenticationError } from '../errors/kafka-errors.ts';
import type { SaslOptions } from '../library/kafkajs-internals.ts';
import type { PropertyReader } from '../../config/property-reader.ts';

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;

/** Parses `sasl.mechanism` and its credentials. Returns a factory, because kafkajs modifies the options. */
export function saslOptions(properties: PropertyReader): () => SaslOptions {
  const mechanism = properties.text('sasl.mechanism') ?? 'GSSAPI';
  const known = MECHANISMS.find((candidate) => candidate === mechanism.toUpperCase());
  if (known === undefined) {
    throw new ConfigError(
      `Invalid value ${mechanism} for configuration sasl.mechanism: supported are ${MECHANISMS.join(', ')}`,
    );
  }
  const jaas = login(properties);
  const grant = {
    endpoint: properties.text('sasl.oauthbearer.token.endpoint.url'),
    clientId: properties.text('sasl.oauthbearer.client.credentials.client.id'),
    clientSecret: properties.text('sasl.oauthbearer.client.credentials.client.secret'),
    scope: properties.text('sasl.oauthbearer.scope'),
  };
  if (known === 'OAUTHBEARER') {
    const provider = bearerToken(grant, jaas);
    return () => ({ mechanism: known, oauthBearerProvider: provider });
  }
  const expectedModule = known === 'PLAIN' ? 'PlainLoginModule' : 'ScramLoginModule';
  if (!jaas.module.endsWith(`.${expectedModule}`)) {
    throw new ConfigError(`sasl.jaas.config names ${jaas.module}, but sasl.mechanism ${known} needs ${expectedModule}`);
  }
  const { username, password } = requireOptions(jaas, 'username', 'password');
  return () => ({ mechanism: known, username, password });
}

/** Uses `sasl.jaas.config`, or else the context `KafkaClient` of the JAAS file in `KAFKA_OPTS`, as Java does. */
function login(properties: PropertyReader): JaasConfig {
  const text = properties.text('sasl.jaas.config');
  const file = jaasFileOf(process.env['KAFKA_OPTS']);
  if (text !== undefined || file === undefined) return parseJaas(properties.required('sasl.jaas.config'));
  const found = loginModule(file, 'KafkaClient');
  if (found !== undefined) return found;
  throw new ConfigError(
    `Could not find a 'KafkaClient' entry in the JAAS configuration. System property 'java.security.auth.login.config' is ${file}`,
  );
}

function requireOptions<K extends string>({ module, options }: JaasConfig, ...names: readonly K[]): Record<K, string> {
  const found: Partial<Record<K, string>> = {};
  for (const name of names) {
    const value = options[name];
    if (value === undefined) throw new ConfigError(`sasl.jaas.config: ${module} needs the option ${name}`);
    found[name] = value;
  }
  return found as Record<K, string>;
}

interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | undefined;
}

type Token = () => Promise<{ value: string }>;

/**
 * HTTP statuses with which a token endpoint rejects the client or its grant (RFC 6749, 5.2). All other statuses are considered
 * transient.
 */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);

const TOKEN_LIFETIME_S = 3600;
const TOKEN_TIMEOUT_MS = 10_000;

/**
 * Values of the properties `sasl.oauthbearer.*`. If the scope, the client id or the client secret is absent, the older
 * options of the login module apply instead.
 */
type GrantProperties = Readonly<Record<'endpoint' | 'clientId' | 'clientSecret' | 'scope', string | undefined>>;

/**
 * The grant is configured by properties or by options of the login module, either Kafka's or Strimzi's (`oauth.*`, ClientConfig
 * of kafka-oauth).
 */
function bearerToken({ endpoint, ...grant }: GrantProperties, jaas: JaasConfig): Token {
  const { 'oauth.access.token': constant, 'oauth.token.endpoint.uri': uri } = jaas.options;
  if (constant !== undefined) return () => Promise.resolve({ value: constant });
  if (uri !== undefined) {
    const { 'oauth.client.id': clientId, 'oauth.client.secret': clientSecret } = requireOptions(
      jaas,
      'oauth.client.id',
      'oauth.client.secret',
    );
    return clientCredentialsToken(uri, { clientId, clientSecret, scope: jaas.options['oauth.scope'] });
  }
  if (endpoint === undefined) return unsecuredToken(jaas);
  const scope = grant.scope ?? jaas.options['scope'];
  const { clientId, clientSecret } = grant;
  if (clientId !== undefined && clientSecret !== undefined) {
    return clientCredentialsToken(endpoint, { clientId, clientSecret, scope });
  }
  return clientCredentialsToken(endpoint, { ...requireOptions(jaas, 'clientId', 'clientSecret'), scope });
}

/** Creates an unsecured JWS for development (OAuthBearerUnsecuredLoginCallbackHandler). */
function unsecuredToken(jaas: JaasConfig): Token {
  const { unsecuredLoginStringClaim_sub: subject } = requireOptions(jaas, 'unsecuredLoginStringClaim_sub');
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return () => {
    const issuedAt = Date.now() / 1000;
    const claims = { iat: issuedAt, exp: issuedAt + TOKEN_LIFETIME_S, sub: subject };
    return Promise.resolve({ value: `${encode({ alg: 'none' })}.${encode(claims)}.` });
  };
}

/** Obtains tokens with the client credentials grant (OAuthBearerLoginCallbackHandler). Each connection requests a new token. */
function clientCredentialsToken(endpoint: string, { clientId, clientSecret, scope }: ClientCredentials): Token {
  return async () => {
    const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) });
    const { status, body } = await httpRequest({
      method: 'POST',
      url: new URL(endpoint),
      headers: {
        accept: 'application/json',
        authorization: `Basic ${credentials}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: form.toString(),
      timeoutMs: TOKEN_TIMEOUT_MS,
    });
    if (status < 200 || status > 299) {
      const message = `The token endpoint ${endpoint} responded with status ${String(status)}`;
      throw REFUSALS.has(status) ? new AuthenticationError('sasl', message) : new Error(message);
    }
    const { access_token: value } = JSON.parse(body.toString()) as { access_token?: string };
    if (value === undefined) throw new Error(`The response of the token endpoint ${endpoint} has no access_token`);
    return { value };
  };
}
