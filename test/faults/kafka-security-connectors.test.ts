import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientProperties } from '../../src/kafka/api.ts';
import { Authority, hasKeytool, javaKeyStore, javaTrustStore, pkcs12File } from '../support/certificates.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { RowChain } from '../support/row-chain.ts';
import { login, MECHANISMS, PASSWORD, SecureBroker, trusting, type SecureListener } from '../support/secure-broker.ts';
import { database } from '../support/services.ts';
import { TokenEndpoint } from '../support/token-endpoint.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const CLIENT = 'sluice-client';
const CLIENT_SECRET = 'the-secret-of-the-client';
const STORE_PASSWORD = 'the-password-of-stores';
const SECRETS = [PASSWORD, CLIENT_SECRET, STORE_PASSWORD, 'wrong-horse', 'wrong-secret'];
const BEARER = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required';

/** Client properties as overrides of connectors. */
function overrides(clients: readonly string[], properties: ClientProperties): Record<string, string> {
  const entries = Object.entries<string>(properties);
  return Object.fromEntries(
    clients.flatMap((client) => entries.map(([name, value]) => [`${client}.override.${name}`, value])),
  );
}

describe('a source and a sink of a worker, with overrides of their clients,', function () {
  let folder: string;
  let broker: SecureBroker;
  let tokens: TokenEndpoint;
  let worker: WorkerProcess;
  let chain: RowChain;
  let identity: { readonly key: string; readonly certificate: string };
  let stranger: { readonly key: string; readonly certificate: string };
  let packed: string;
  let storeCount = 0;

  before(async function (this: Mocha.Context) {
    if (!(await hasKeytool())) {
      console.log('    (no openssl or no keytool here: connectors of secured brokers are not tested)');
      this.skip();
    }
    folder = await mkdtemp(join(tmpdir(), 'sluice-secured-'));
    [broker, tokens] = await Promise.all([SecureBroker.start(), TokenEndpoint.start(CLIENT, CLIENT_SECRET)]);
    const [from, to, others] = await Promise.all([
      database('secured_from'),
      database('secured_to'),
      Authority.create('authority of strangers'),
    ]);
    chain = new RowChain(new KafkaTraffic(broker.plain), { from, to });
    [worker, identity, stranger] = await Promise.all([
      WorkerProcess.start({ properties: { 'bootstrap.servers': broker.plain } }),
      broker.authority.issue(CLIENT),
      others.issue(CLIENT),
    ]);
    packed = await pkcs12File(folder, 'client', identity, STORE_PASSWORD);
  });
  after(async () => {
    await Promise.all([worker?.discard(), tokens?.stop()]);
    await broker?.discard();
    await rm(folder, { recursive: true, force: true });
  });

  /** Options of the pair for clients that use a listener. */
  const pairOf = (
    listener: SecureListener,
    properties: ClientProperties,
    host?: string,
  ): { readonly source: Record<string, string>; readonly sink: Record<string, string> } => {
    const all = { 'bootstrap.servers': broker.at(listener, host), ...properties };
    return { source: overrides(['producer', 'admin'], all), sink: overrides(['consumer', 'admin'], all) };
  };
  const storesOf = async (type: 'JKS' | 'PKCS12'): Promise<ClientProperties> => {
    const name = `${packed}-${String((storeCount += 1))}`;
    const [keys, trust] = await Promise.all([
      javaKeyStore(type, packed, name, STORE_PASSWORD),
      javaTrustStore(type, broker.authority, `${name}-trust`, STORE_PASSWORD),
    ]);
    return {
      'ssl.keystore.type': type,
      'ssl.keystore.location': keys,
      'ssl.keystore.password': STORE_PASSWORD,
      'ssl.key.password': STORE_PASSWORD,
      'ssl.truststore.type': type,
      'ssl.truststore.location': trust,
      'ssl.truststore.password': STORE_PASSWORD,
    };
  };
  const moved = async (by: WorkerProcess, options: ReturnType<typeof pairOf>): Promise<void> => {
    await chain.remove(by, await chain.move(by, options));
  };
  /** Resolves with the trace of a failed connector or task. */
  const traceOf = (name: string): Promise<string> =>
    until(async () => {
      const { connector, tasks } = await worker.rest.status(name);
      return [connector, ...tasks].find(({ state }) => state === 'FAILED')?.trace;
    }, `${name} has failed`);
  const noSecretIn = (text: string): void => {
    for (const secret of SECRETS) assert.ok(!text.includes(secret), `a secret is in: ${text}`);
  };

  for (const mechanism of MECHANISMS) {
    it(`move rows by SASL ${mechanism}, with TLS and without`, async () => {
      const plain = { 'security.protocol': 'SASL_PLAINTEXT', ...login(mechanism) };
      await Promise.all([
        moved(worker, pairOf('SASL', plain)),
        moved(worker, pairOf('BOTH', broker.overTls(mechanism))),
      ]);
      noSecretIn(worker.log);
    });
  }

  it('move rows by OAUTHBEARER with tokens of an endpoint, by properties and by options of the login module', async () => {
    const granted = {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'OAUTHBEARER',
      'sasl.oauthbearer.token.endpoint.url': tokens.url,
    };
    const byProperties = {
      ...granted,
      'sasl.jaas.config': `${BEARER};`,
      'sasl.oauthbearer.client.credentials.client.id': CLIENT,
      'sasl.oauthbearer.client.credentials.client.secret': CLIENT_SECRET,
      'sasl.oauthbearer.scope': 'rows',
    };
    const byModule = {
      ...granted,
      'sasl.jaas.config': `${BEARER} clientId="${CLIENT}" clientSecret="${CLIENT_SECRET}" scope="lines";`,
    };
    await moved(worker, pairOf('SASL', byProperties));
    await moved(worker, pairOf('SASL', byModule));
    const scopes = new Set(tokens.granted.map((body) => new URLSearchParams(body).get('scope')));
    assert.deepEqual(scopes, new Set(['rows', 'lines']));
    noSecretIn(worker.log);
  });

  it('move rows over TLS', async () => {
    await moved(worker, pairOf('TLS', { 'security.protocol': 'SSL', ...trusting(broker.authority) }));
  });

  it('move rows with client certificates in PEM, as text', async () => {
    const pem = {
      'security.protocol': 'SSL',
      ...trusting(broker.authority),
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.key': identity.key,
      'ssl.keystore.certificate.chain': identity.certificate,
    };
    await moved(worker, pairOf('CERT', pem));
    assert.ok(!worker.log.includes('PRIVATE KEY'), 'the log has no key');
  });

  for (const type of ['JKS', 'PKCS12'] as const) {
    it(`move rows with client certificates in ${type} stores that keytool has made`, async () => {
      await moved(worker, pairOf('CERT', { 'security.protocol': 'SSL', ...(await storesOf(type)) }));
      noSecretIn(worker.log);
    });
  }

  it('fail with one message each where the broker refuses them, or they do not trust it', async () => {
    const trust = trusting(broker.authority);
    const shown = (who: typeof identity): ClientProperties => ({
      'security.protocol': 'SSL',
      ...trust,
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.key': who.key,
      'ssl.keystore.certificate.chain': who.certificate,
    });
    const sasl = { 'security.protocol': 'SASL_PLAINTEXT' };
    const grant = `${BEARER} clientId="${CLIENT}" clientSecret="wrong-secret";`;
    const cases: [ReturnType<typeof pairOf>, RegExp][] = [
      // A wrong password.
      [
        pairOf('SASL', { ...sasl, ...login('SCRAM-SHA-512', 'wrong-horse') }),
        /Broker 127\.0\.0\.1:\d+: .*[Aa]uthentication failed/,
      ],
      // A wrong password of PLAIN over TLS.
      [
        pairOf('BOTH', { ...broker.overTls('PLAIN'), ...login('PLAIN', 'wrong-horse') }),
        /Broker 127\.0\.0\.1:\d+: .*[Aa]uthentication failed/,
      ],
      // A wrong secret for the token endpoint.
      [
        pairOf('SASL', {
          ...sasl,
          'sasl.mechanism': 'OAUTHBEARER',
          'sasl.oauthbearer.token.endpoint.url': tokens.url,
          'sasl.jaas.config': grant,
        }),
        /SaslAuthenticationException: Broker 127\.0\.0\.1:\d+: The token endpoint http:\S+ responded with status 401$/,
      ],
      // An authority that is not trusted.
      [
        pairOf('TLS', { 'security.protocol': 'SSL' }),
        /Broker 127\.0\.0\.1:\d+: TLS handshake failed: (?:unable to verify|self-signed)/,
      ],
      // A certificate for another host.
      [
        pairOf('TLS', { 'security.protocol': 'SSL', ...trust }, 'localhost'),
        /Broker localhost:\d+: TLS handshake failed: Hostname\/IP does not match certificate's altnames/,
      ],
      // No client certificate.
      [
        pairOf('CERT', { 'security.protocol': 'SSL', ...trust }),
        /SslAuthenticationException: Broker 127\.0\.0\.1:\d+: TLS handshake failed: the broker does not accept the client certificate \([\w ]+\)$/,
      ],
      // A stranger's client certificate.
      [
        pairOf('CERT', shown(stranger)),
        /TLS handshake failed: the broker does not accept the client certificate \([\w ]+\)$/,
      ],
    ];
    const pairs = [];
    for (const [options, message] of cases) pairs.push({ message, ...(await chain.pair(options)) });
    const failing = pairs.map(async ({ message, names, source, sink }) => {
      await Promise.all([worker.rest.create(names.source, source), worker.rest.create(names.sink, sink)]);
      return { message, traces: await Promise.all([traceOf(names.source), traceOf(names.sink)]) };
    });
    for (const { message, traces } of await Promise.all(failing)) {
      for (const trace of traces) {
        assert.match(trace.split('\n')[0] ?? '', message);
        noSecretIn(trace);
      }
    }
    noSecretIn(worker.log);
  });

  it('move rows without overrides, where the worker has a client certificate in a JKS store for all of its clients', async () => {
    const stores = { 'security.protocol': 'SSL', ...(await storesOf('JKS')) };
    const prefixed = ['', 'producer.', 'consumer.', 'admin.'].flatMap((prefix) =>
      Object.entries(stores).map(([name, value]): [string, string] => [`${prefix}${name}`, value]),
    );
    const certified = await WorkerProcess.start({
      properties: { ...Object.fromEntries(prefixed), 'bootstrap.servers': broker.at('CERT') },
    });
    try {
      await moved(certified, { source: {}, sink: {} });
      noSecretIn(certified.log);
    } finally {
      await certified.discard();
    }
  });
});
