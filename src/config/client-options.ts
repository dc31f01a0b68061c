import { listEntries } from './list-text.ts';
import { declareOptions } from './option.ts';
import { oneOfIgnoringCase } from './validators.ts';

/**
 * Settings of the worker's own Kafka clients that are checked when the worker starts. All other `sasl.…` and `ssl.…`
 * settings are passed to the clients without a check.
 */
export const clientOptions = declareOptions({
  'security.protocol': {
    type: 'STRING',
    default: 'PLAINTEXT',
    importance: 'MEDIUM',
    documentation:
      'Protocol to the brokers. For the clients of connectors, set it with the prefixes `producer.`, `consumer.` and `admin.` too.',
    validator: oneOfIgnoringCase('SASL_SSL', 'PLAINTEXT', 'SSL', 'SASL_PLAINTEXT'),
  },
  'sasl.mechanism': {
    type: 'STRING',
    default: 'GSSAPI',
    importance: 'MEDIUM',
    documentation: 'SASL mechanism: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER.',
  },
  'sasl.jaas.config': {
    type: 'PASSWORD',
    default: null,
    importance: 'MEDIUM',
    documentation: 'Login module line with the user name and password, in the format of Java clients.',
  },
  'ssl.truststore.location': {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation: 'File with the certificates that are trusted.',
  },
  'ssl.truststore.password': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Password of the truststore file.',
  },
  'ssl.truststore.type': {
    type: 'STRING',
    default: 'JKS',
    importance: 'MEDIUM',
    documentation: 'PEM, PKCS12 or JKS. The format of a file is detected by its content.',
  },
  'ssl.truststore.certificates': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Trusted certificates as PEM text.',
  },
  'ssl.keystore.location': {
    type: 'STRING',
    default: null,
    importance: 'HIGH',
    documentation: 'File with the private key and certificate.',
  },
  'ssl.keystore.password': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Password of the keystore file.',
  },
  'ssl.keystore.type': {
    type: 'STRING',
    default: 'JKS',
    importance: 'MEDIUM',
    documentation: 'PEM, PKCS12 or JKS. The format of a file is detected by its content.',
  },
  'ssl.keystore.key': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Private key as PEM text.',
  },
  'ssl.keystore.certificate.chain': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Certificate chain as PEM text.',
  },
  'ssl.key.password': {
    type: 'PASSWORD',
    default: null,
    importance: 'HIGH',
    documentation: 'Password of the private key.',
  },
  'ssl.endpoint.identification.algorithm': {
    type: 'STRING',
    default: 'https',
    importance: 'LOW',
    documentation: 'Whether the host name of a broker is checked against its certificate; empty for no check.',
  },
});

/**
 * Keys of Java workers that have no meaning here: class loading, JMX, TLS and SASL of the JVM, and obsolete settings.
 * Each is ignored with a warning, except for `metric.reporters` if it names Strimzi's Metrics Reporter.
 */
export const javaOnlyKeys: ReadonlySet<string> = new Set([
  'plugin.discovery',
  'metric.reporters',
  'auto.include.jmx.reporter',
  'internal.key.converter',
  'internal.value.converter',
  'ssl.protocol',
  'ssl.provider',
  'ssl.keymanager.algorithm',
  'ssl.trustmanager.algorithm',
  'ssl.secure.random.implementation',
  'ssl.engine.factory.class',
  'sasl.client.callback.handler.class',
  'sasl.login.callback.handler.class',
  'sasl.login.class',
  'security.providers',
]);

/** Package of Strimzi's metrics reporters. The worker provides their metrics itself (`metrics.listeners`). */
const STRIMZI_REPORTERS = 'io.strimzi.kafka.metrics.';

/** Whether the value of `metric.reporters` names Strimzi's Metrics Reporter. */
export function namesMetricsReporter(reporters: string | undefined): boolean {
  return listEntries(reporters).some((reporter) => reporter.startsWith(STRIMZI_REPORTERS));
}

/** Keys with a prefix in `javaOnlyPrefixes` that are supported nevertheless. */
export const honouredKeys: ReadonlySet<string> = new Set([
  'sasl.oauthbearer.token.endpoint.url',
  'sasl.oauthbearer.client.credentials.client.id',
  'sasl.oauthbearer.client.credentials.client.secret',
  'sasl.oauthbearer.scope',
  'prometheus.metrics.reporter.listener',
  'prometheus.metrics.reporter.listener.enable',
]);

/** Prefixes of keys that are ignored with a warning, except for `honouredKeys`. */
export const javaOnlyPrefixes: readonly string[] = [
  'internal.key.converter.',
  'internal.value.converter.',
  'sasl.kerberos.',
  'sasl.oauthbearer.',
  'sasl.login.',
  'prometheus.metrics.reporter.',
];
