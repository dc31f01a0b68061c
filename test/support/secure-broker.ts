import { freePort } from '../../src/dev/ports.ts';
import type { ClientProperties, KafkaClient } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { Authority } from './certificates.ts';
import { ownBroker } from './services.ts';

const USER = 'alice';
export const PASSWORD = 'correct-horse-battery';
const SECURITY = 'org.apache.kafka.common.security';
export const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;

/** A listener of the broker: SASL_PLAINTEXT, SSL, SASL_SSL, or SSL with a client certificate. */
export type SecureListener = 'SASL' | 'TLS' | 'BOTH' | 'CERT';

/** Returns the properties with which a client logs in by SASL. */
export function login(mechanism: string, password = PASSWORD): ClientProperties {
  const credentials = `required username="${USER}" password="${password}";`;
  const jaas =
    mechanism === 'OAUTHBEARER'
      ? `${SECURITY}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="${USER}";`
      : `${SECURITY}.${mechanism === 'PLAIN' ? 'plain.Plain' : 'scram.Scram'}LoginModule ${credentials}`;
  return { 'sasl.mechanism': mechanism, 'sasl.jaas.config': jaas };
}

/** Returns the properties with which a client trusts an authority. */
export function trusting({ certificate }: Authority): ClientProperties {
  return { 'ssl.truststore.type': 'PEM', 'ssl.truststore.certificates': certificate };
}

/**
 * A broker that has a listener of each kind at 127.0.0.1 in addition to the plain one, for clients with Java's
 * properties. `authority` has issued its certificate, and the broker trusts the authority too. The test must discard
 * the broker.
 */
export class SecureBroker {
  /** Address of the listener without TLS and SASL. */
  readonly plain: string;
  readonly authority: Authority;
  readonly #ports: Readonly<Record<SecureListener, number>>;
  readonly #broker: Awaited<ReturnType<typeof ownBroker>>;

  private constructor(
    broker: Awaited<ReturnType<typeof ownBroker>>,
    authority: Authority,
    ports: Readonly<Record<SecureListener, number>>,
  ) {
    this.#broker = broker;
    this.plain = broker.bootstrapServers;
    this.authority = authority;
    this.#ports = ports;
  }

  /** `sessionMs` is the length of a SASL session (`connections.max.reauth.ms`); 0 means unlimited. */
  static async start(sessionMs = 0): Promise<SecureBroker> {
    const authority = await Authority.create('authority of the brokers');
    const { key, certificate } = await authority.issue('broker', [{ type: 7, ip: '127.0.0.1' }]);
    const [sasl, tls, both, cert] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const ports = { SASL: sasl, TLS: tls, BOTH: both, CERT: cert };
    const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map((name) => `${name}=[name=${USER},password=${PASSWORD}]`);
    const broker = await ownBroker({
      extras: {
        listeners: [
          { name: 'SASL', port: sasl, protocol: 'SASL_PLAINTEXT' },
          { name: 'TLS', port: tls, protocol: 'SSL' },
          { name: 'BOTH', port: both, protocol: 'SASL_SSL' },
          { name: 'CERT', port: cert, protocol: 'SSL' },
        ],
        properties: {
          'ssl.keystore.type': 'PEM',
          'ssl.keystore.key': key,
          'ssl.keystore.certificate.chain': certificate,
          'ssl.truststore.type': 'PEM',
          'ssl.truststore.certificates': authority.certificate,
          'listener.name.cert.ssl.client.auth': 'required',
          'connections.max.reauth.ms': String(sessionMs),
          ...saslOf('sasl'),
          ...saslOf('both'),
        },
        formatArguments: scram.flatMap((user) => ['--add-scram', user]),
      },
    });
    return new SecureBroker(broker, authority, ports);
  }

  /**
   * Returns the `bootstrap.servers` of a listener. `host` replaces the host name that is in the broker's certificate.
   */
  at(listener: SecureListener, host = '127.0.0.1'): string {
    return `${host}:${String(this.#ports[listener])}`;
  }

  client(listener: SecureListener, properties: ClientProperties): KafkaClient {
    return createKafkaClient({ 'bootstrap.servers': this.at(listener), ...properties }, silentLogger);
  }

  /** Returns the properties of a client that logs in by SASL over TLS. */
  overTls(mechanism: string): ClientProperties {
    return { 'security.protocol': 'SASL_SSL', ...trusting(this.authority), ...login(mechanism) };
  }

  discard(): Promise<void> {
    return this.#broker.discard();
  }
}

function saslOf(listener: string): Record<string, string> {
  const prefix = `listener.name.${listener}`;
  const module = `${SECURITY}.oauthbearer.OAuthBearerLoginModule`;
  return {
    [`${prefix}.sasl.enabled.mechanisms`]: MECHANISMS.join(','),
    [`${prefix}.plain.sasl.jaas.config`]: `${SECURITY}.plain.PlainLoginModule required user_${USER}="${PASSWORD}";`,
    [`${prefix}.scram-sha-256.sasl.jaas.config`]: `${SECURITY}.scram.ScramLoginModule required;`,
    [`${prefix}.scram-sha-512.sasl.jaas.config`]: `${SECURITY}.scram.ScramLoginModule required;`,
    [`${prefix}.oauthbearer.sasl.jaas.config`]: `${module} required unsecuredLoginStringClaim_sub="broker";`,
  };
}
