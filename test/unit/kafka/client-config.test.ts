import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ConfigError, javaTrace } from '../../../src/errors.ts';
import type { ClientProperties } from '../../../src/kafka/api.ts';
import { connectionConfig } from '../../../src/kafka/config/client-config.ts';
import type { ConnectionConfig } from '../../../src/kafka/config/connection-config.ts';
import { consumerConfig } from '../../../src/kafka/config/consumer-config.ts';
import { producerConfig } from '../../../src/kafka/config/producer-config.ts';
import { PropertyReader } from '../../../src/config/property-reader.ts';
import { parseJaas } from '../../../src/tls/jaas.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import {
  JKS_KEY_STORE,
  JKS_TRUST_STORE,
  PKCS12_TRUST_STORE,
  TRUSTED,
  CERTIFICATE,
  PKCS12,
  PRIVATE_KEY,
} from '../tls/tls-fixture.ts';

const SERVER = { 'bootstrap.servers': 'localhost:9092' };

function connection(properties: ClientProperties): ConnectionConfig {
  return connectionConfig(new PropertyReader({ ...SERVER, ...properties }));
}

function refused(properties: ClientProperties, message: RegExp): void {
  assert.throws(
    () => connection(properties),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, message);
      return true;
    },
  );
}

describe('client properties', () => {
  it('have Java’s defaults', () => {
    assert.deepEqual(connection({}), {
      bootstrapServers: [{ host: 'localhost', port: 9092 }],
      clientId: 'sluice',
      tls: null,
      sasl: null,
      connectTimeoutMs: 10_000,
      requestTimeoutMs: 30_000,
      reconnectBackoffMs: 50,
      reconnectBackoffMaxMs: 1000,
      retryBackoffMs: 100,
      retryBackoffMaxMs: 1000,
      metricWindow: { sampleMs: 30_000, samples: 2 },
      metadataMaxAgeMs: 300_000,
      apiTimeoutMs: 60_000,
    });
    const { connection: _connection, ...consumer } = consumerConfig(SERVER, silentLogger);
    assert.deepEqual(consumer, {
      groupId: undefined,
      instanceId: undefined,
      groupProtocol: 'classic',
      remoteAssignor: undefined,
      sessionTimeoutMs: 45_000,
      heartbeatIntervalMs: 3000,
      rebalanceTimeoutMs: 300_000,
      assignors: ['range', 'cooperative-sticky'],
      rackId: undefined,
      offsetReset: 'latest',
      isolation: 'read_uncommitted',
      maxPollRecords: 500,
      maxFetchBytes: 52_428_800,
      maxPartitionBytes: 1_048_576,
      minFetchBytes: 1,
      maxFetchWaitMs: 500,
      checkCrcs: true,
      allowAutoCreateTopics: true,
      excludeInternalTopics: true,
      topicDiscoveryMs: 30_000,
      leftoverName: undefined,
    });
    const { connection: _same, ...producer } = producerConfig(SERVER, silentLogger);
    assert.deepEqual(producer, {
      acks: -1,
      compression: 'none',
      maxRequestBytes: 1_048_576,
      maxInFlight: 5,
      idempotent: true,
      transactionalId: null,
      transactionTimeoutMs: 60_000,
      deliveryTimeoutMs: 120_000,
      maxBlockMs: 60_000,
    });
  });

  it('accept several servers, IPv6 addresses and protocol prefixes', () => {
    const { bootstrapServers } = connection({ 'bootstrap.servers': ' a:1, PLAINTEXT://b.example:2 ,[::1]:3,' });
    assert.deepEqual(bootstrapServers, [
      { host: 'a', port: 1 },
      { host: 'b.example', port: 2 },
      { host: '::1', port: 3 },
    ]);
  });

  it('are rejected with ConfigDef’s messages', () => {
    refused(
      { 'bootstrap.servers': '' },
      /Missing required configuration "bootstrap\.servers" which has no default value\./,
    );
    refused({ 'bootstrap.servers': 'localhost' }, /localhost is not of the form host:port/);
    refused({ 'bootstrap.servers': 'localhost:99999' }, /not of the form host:port/);
    refused(
      { 'request.timeout.ms': 'soon' },
      /Invalid value soon for configuration request\.timeout\.ms: Not a number/,
    );
    refused({ 'request.timeout.ms': '0' }, /Value must be at least 1/);
    refused({ 'security.protocol': 'TLS' }, /must be one of: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL/);
    assert.throws(() => consumerConfig({ ...SERVER, 'check.crcs': 'maybe' }, silentLogger), /either true or false/);
  });

  it('clip Java’s unlimited durations to the maximum of timers', () => {
    assert.equal(connection({ 'default.api.timeout.ms': '9223372036854775807' }).apiTimeoutMs, 2 ** 31 - 1);
  });

  it('select assignors by Java class name or protocol name', () => {
    const assignors = (text: string): readonly string[] =>
      consumerConfig({ ...SERVER, 'partition.assignment.strategy': text }, silentLogger).assignors;
    const java = 'org.apache.kafka.clients.consumer.';
    assert.deepEqual(assignors(`${java}RoundRobinAssignor`), ['roundrobin']);
    assert.deepEqual(assignors(`${java}StickyAssignor, ${java}CooperativeStickyAssignor,${java}RangeAssignor`), [
      'sticky',
      'cooperative-sticky',
      'range',
    ]);
    assert.deepEqual(assignors('cooperative-sticky,roundrobin,roundrobin'), ['cooperative-sticky', 'roundrobin']);
  });

  it('are rejected like in Java if they name unknown assignors or none', () => {
    const trace = (text: string): string => {
      try {
        consumerConfig({ ...SERVER, 'partition.assignment.strategy': text }, silentLogger);
      } catch (error) {
        return javaTrace(error);
      }
      return 'accepted';
    };
    assert.match(
      trace('com.example.Mine'),
      /^org\.apache\.kafka\.common\.KafkaException: Failed to construct kafka consumer: com\.example\.Mine ClassNotFoundException exception occurred[^]*Caused by: org\.apache\.kafka\.common\.KafkaException: com\.example\.Mine ClassNotFoundException exception occurred\n/,
    );
    assert.match(trace('com.example.RangeAssignor'), /com\.example\.RangeAssignor ClassNotFoundException/);
    assert.match(trace(''), /Must configure at least one partition assigner class name/);
  });

  it('select the group protocol, and are rejected like in Java if they belong to the other one', () => {
    const config = (properties: ClientProperties) => consumerConfig({ ...SERVER, ...properties }, silentLogger);
    assert.equal(config({ 'group.protocol': 'Classic' }).groupProtocol, 'classic');
    const byBroker = config({ 'group.protocol': 'consumer', 'group.remote.assignor': 'range' });
    assert.deepEqual([byBroker.groupProtocol, byBroker.remoteAssignor], ['consumer', 'range']);
    const refusals: [ClientProperties, string][] = [
      [
        { 'group.protocol': 'nonsense' },
        'Invalid value nonsense for configuration group.protocol: String must be one of (case insensitive): CONSUMER, CLASSIC',
      ],
      [
        { 'group.protocol': '' },
        'Invalid value  for configuration group.protocol: String must be one of (case insensitive): CONSUMER, CLASSIC',
      ],
      [{ 'group.remote.assignor': 'uniform' }, 'group.remote.assignor cannot be set when group.protocol=CLASSIC'],
      ...['session.timeout.ms', 'heartbeat.interval.ms', 'partition.assignment.strategy'].map(
        (name): [ClientProperties, string] => [
          { 'group.protocol': 'consumer', [name]: '10000' },
          `${name} cannot be set when group.protocol=CONSUMER`,
        ],
      ),
    ];
    for (const [properties, message] of refusals)
      assert.throws(() => config(properties), { name: 'ConfigError', message });
  });

  it('validate group.instance.id like Java', () => {
    const instanceId = (text: string): string | undefined =>
      consumerConfig({ ...SERVER, 'group.instance.id': text }, silentLogger).instanceId;
    assert.equal(instanceId('Rack_1.sink-0'), 'Rack_1.sink-0');
    const refusals: [string, RegExp][] = [
      ['', /^Invalid value {2}for configuration group\.instance\.id: String must be non-empty$/],
      ['..', /^Group instance id is invalid: '\.\.' is not allowed/],
      ['a b', /'a b' contains one or more characters other than ASCII alphanumerics, '\.', '_' and '-'/],
      ['x'.repeat(250), /is longer than the max allowed length 249/],
    ];
    for (const [text, message] of refusals) assert.throws(() => instanceId(text), { message });
  });

  it('of a static member define no leftover member to remove', () => {
    const owned = { ...SERVER, 'client.id': 'c', 'sluice.group.member.owner': 'o' };
    assert.equal(consumerConfig(owned, silentLogger).leftoverName, 'c-o');
    assert.equal(consumerConfig({ ...owned, 'group.instance.id': 'i' }, silentLogger).leftoverName, undefined);
  });

  it('discover new topics at the interval of metadata.max.age.ms if it is set', () => {
    const { topicDiscoveryMs } = consumerConfig({ ...SERVER, 'metadata.max.age.ms': '300000' }, silentLogger);
    assert.equal(topicDiscoveryMs, 300_000);
  });

  const logged = (properties: ClientProperties): { level: number; properties: string[] }[] => {
    const lines: { level: number; properties: string[] }[] = [];
    const write = (line: string): void => {
      assert.doesNotMatch(line, /its value/);
      lines.push(JSON.parse(line) as { level: number; properties: string[] });
    };
    consumerConfig({ ...SERVER, ...properties }, pino({ level: 'debug' }, { write }));
    return lines.map((line) => ({ level: line.level, properties: line.properties }));
  };
  const [INFO, WARN] = [30, 40];

  it('are logged once without their values if they are unknown', () => {
    const properties = { 'no.such.key': 'its value', 'fetch.min.bytes': '2' };
    assert.deepEqual(logged(properties), [{ level: INFO, properties: ['no.such.key'] }]);
  });

  it('cause one warning if they name Java classes, and are rejected like in Java if they are not class names', () => {
    const classes = { 'interceptor.classes': 'com.example.Traced, com.example.Counted', 'security.providers': 'x.Y' };
    const names = ['interceptor.classes', 'security.providers'];
    assert.deepEqual(logged(classes), [{ level: WARN, properties: names }]);
    assert.deepEqual(logged({ 'metric.reporters': 'org.apache.kafka.common.metrics.JmxReporter' }), []);
    for (const name of ['interceptor.classes', 'metric.reporters']) {
      const message = /^Failed to construct kafka consumer: Class nonsense cannot be found/;
      assert.throws(() => logged({ [name]: 'nonsense' }), { message });
    }
  });

  it('are rejected if their values are invalid, even if they have no effect', () => {
    const wrong: [string, string, RegExp][] = [
      ['client.dns.lookup', 'nonsense', /must be one of: use_all_dns_ips, resolve_canonical_bootstrap_servers_only/],
      ['metadata.recovery.strategy', 'nonsense', /must be one of: REBOOTSTRAP, NONE/],
      ['metrics.recording.level', 'nonsense', /must be one of: INFO, DEBUG, TRACE/],
      ['enable.metrics.push', 'maybe', /either true or false/],
      ['enable.auto.commit', 'maybe', /either true or false/],
      ['auto.commit.interval.ms', '-1', /Value must be at least 0/],
      ['send.buffer.bytes', 'x', /Not a number/],
      ['heartbeat.interval.ms', '45000', /Heartbeat must be set lower than the session timeout/],
    ];
    for (const [name, value, message] of wrong) assert.throws(() => logged({ [name]: value }), { message });
  });
});

describe('SASL properties', () => {
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule';
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule';

  it('contain user name and password', () => {
    for (const [mechanism, module] of [
      ['PLAIN', plain],
      ['SCRAM-SHA-256', scram],
      ['SCRAM-SHA-512', scram],
    ] as const) {
      const { sasl, tls } = connection({
        'security.protocol': 'SASL_PLAINTEXT',
        'sasl.mechanism': mechanism,
        'sasl.jaas.config': `${module} required username="alice" password="s3;c=\\"ret";`,
      });
      assert.deepEqual(sasl?.(), { mechanism, username: 'alice', password: 's3;c="ret' });
      assert.equal(tls, null);
    }
  });

  it('are parsed as JAAS like in Java', () => {
    assert.deepEqual(parseJaas('a.B required;'), { module: 'a.B', options: {} });
    assert.deepEqual(parseJaas(' a.B  required\n  user = bob\n  "x"="1" ; '.replace('"x"', 'x')), {
      module: 'a.B',
      options: { user: 'bob', x: '1' },
    });
  });

  it('fall back to the login in the JAAS file of KAFKA_OPTS', () => {
    const folder = mkdtempSync(join(tmpdir(), 'jaas-'));
    const before = process.env['KAFKA_OPTS'];
    const file = join(folder, 'jaas.conf');
    const properties = { 'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'PLAIN' };
    try {
      process.env['KAFKA_OPTS'] = `-Xmx1g -Djava.security.auth.login.config=${file} -Da=b`;
      refused(properties, /The JAAS file cannot be read: ENOENT/);
      writeFileSync(file, `KafkaServer {\n${plain} required\nusername="broker"\npassword="b";\n};\n`);
      refused(properties, /Could not find a 'KafkaClient' entry in the JAAS configuration/);
      const text = `/* For\n clients. */\nKafkaClient {\n  ${plain} required\n  username="alice"\n  password="s3;c}ret";\n};\n`;
      writeFileSync(file, text, { flag: 'a' });
      assert.deepEqual(connection(properties).sasl?.(), {
        mechanism: 'PLAIN',
        username: 'alice',
        password: 's3;c}ret',
      });
      const own = { ...properties, 'sasl.jaas.config': `${plain} required username="bob" password="p";` };
      assert.deepEqual(connection(own).sasl?.(), { mechanism: 'PLAIN', username: 'bob', password: 'p' });
    } finally {
      if (before === undefined) delete process.env['KAFKA_OPTS'];
      else process.env['KAFKA_OPTS'] = before;
      rmSync(folder, { recursive: true });
    }
  });

  it('are rejected without showing the password', () => {
    const wrong = [
      `${plain} required username="alice" password="hunter2"`,
      `${plain} username="alice" password="hunter2";`,
      `${plain} required username password="hunter2";`,
      `${scram} required username="alice" password="hunter2";`,
      `${plain} required password="hunter2";`,
    ];
    for (const jaas of wrong) {
      const properties = { 'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'PLAIN', 'sasl.jaas.config': jaas };
      assert.throws(
        () => connection(properties),
        (error: unknown) => error instanceof ConfigError && !error.message.includes('hunter2'),
      );
    }
    refused(
      { 'security.protocol': 'SASL_SSL' },
      /Invalid value GSSAPI for configuration sasl\.mechanism: supported are/,
    );
  });

  it('create an unsecured token for OAUTHBEARER', async () => {
    const { sasl } = connection({
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'OAUTHBEARER',
      'sasl.jaas.config':
        'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="bob";',
    });
    const token = await sasl?.().oauthBearerProvider?.();
    const [head = '', claims = '', signature] = token?.value.split('.') ?? [];
    assert.deepEqual(JSON.parse(Buffer.from(head, 'base64url').toString()), { alg: 'none' });
    assert.equal((JSON.parse(Buffer.from(claims, 'base64url').toString()) as { sub: string }).sub, 'bob');
    assert.equal(signature, '');
  });

  it("accept the options of Strimzi's login module for OAUTHBEARER", async () => {
    const requests: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      requests.push(request.headers.authorization);
      response.end('{"access_token":"granted"}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const uri = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/token`;
    const token = async (options: string): Promise<string | undefined> => {
      const { sasl } = connection({
        'security.protocol': 'SASL_PLAINTEXT',
        'sasl.mechanism': 'OAUTHBEARER',
        'sasl.jaas.config': `org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required ${options};`,
      });
      return (await sasl?.().oauthBearerProvider?.())?.value;
    };
    try {
      const grant = `oauth.client.id="me" oauth.token.endpoint.uri="${uri}" oauth.client.secret="hunter2"`;
      assert.equal(await token(grant), 'granted');
      assert.deepEqual(requests, [`Basic ${Buffer.from('me:hunter2').toString('base64')}`]);
      assert.equal(await token('oauth.client.id=me oauth.access.token="constant"'), 'constant');
    } finally {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  });
});

describe('TLS properties', () => {
  const pem = CERTIFICATE;
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tls-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  it('accept inline PEM on one or several lines', () => {
    const inOneLine = pem.trim().replaceAll('\n', ' ');
    for (const text of [pem, inOneLine, pem.replaceAll('\n', '\\n')]) {
      const { tls } = connection({ 'security.protocol': 'SSL', 'ssl.truststore.certificates': text });
      assert.equal(String(tls?.ca).trim(), pem.trim());
    }
  });

  it('accept PEM files, and PKCS12 with a password', () => {
    const key = PRIVATE_KEY;
    const both = file('both.pem', key + pem);
    const trust = { 'ssl.truststore.type': 'PEM', 'ssl.truststore.location': file('ca.pem', pem) };
    const { tls } = connection({ 'security.protocol': 'SSL', ...trust, 'ssl.keystore.location': both });
    assert.deepEqual([tls?.ca, tls?.cert, tls?.key].map(String), [pem, key + pem, key + pem]);
    const store = file('store.p12', PKCS12);
    const packed = connection({
      'security.protocol': 'SSL',
      'ssl.keystore.location': store,
      'ssl.keystore.password': 'secret',
    });
    assert.deepEqual([packed.tls?.pfx, packed.tls?.passphrase], [PKCS12, 'secret']);
  });

  it('accept JKS and PKCS12 as written by keytool, regardless of the configured type', () => {
    const jks = {
      'security.protocol': 'SSL',
      'ssl.keystore.location': file('keys.jks', JKS_KEY_STORE),
      'ssl.keystore.password': 'secret2',
      'ssl.key.password': 'keypass2',
    };
    const { tls } = connection(jks);
    assert.match(tls?.key as string, /BEGIN PRIVATE KEY/);
    assert.match(tls?.cert as string, /BEGIN CERTIFICATE/);
    for (const [name, content] of [
      ['trust.jks', JKS_TRUST_STORE] as const,
      ['trust.p12', PKCS12_TRUST_STORE] as const,
    ]) {
      const trusting = connection({
        'security.protocol': 'SSL',
        'ssl.truststore.location': file(name, content),
        'ssl.truststore.password': 'secret1',
        'ssl.truststore.type': 'JKS',
      });
      const certificates = String(trusting.tls?.ca);
      assert.equal(certificates.match(/BEGIN CERTIFICATE/g)?.length, 2, name);
      const body = TRUSTED.replace(/-----.*-----|\s/g, '');
      assert.ok(certificates.replace(/\s/g, '').includes(body), name);
    }
  });

  it('are rejected with the property of an unreadable store, without the password', () => {
    const ssl = { 'security.protocol': 'SSL' };
    const keys = { 'ssl.keystore.location': file('keys.jks', JKS_KEY_STORE), 'ssl.keystore.password': 'guessed' };
    refused(
      { ...ssl, ...keys },
      /^ssl\.keystore\.location: \S+ cannot be read \((?!.*guessed).*ssl\.keystore\.password its password/,
    );
    const trust = {
      'ssl.truststore.location': file('trust.p12', PKCS12_TRUST_STORE),
      'ssl.truststore.password': 'guessed',
    };
    refused({ ...ssl, ...trust }, /^ssl\.truststore\.location: \S+ cannot be read \((?!.*guessed)/);
    refused({ ...ssl, 'ssl.truststore.location': file('text', 'none') }, /it must be PEM, PKCS12 or JKS/);
    refused({ ...ssl, 'ssl.keystore.location': file('trust.jks', JKS_TRUST_STORE) }, /has no private key/);
    refused({ ...ssl, 'ssl.keystore.location': join(folder, 'none') }, /ssl\.keystore\.location: ENOENT/);
  });

  it('are rejected if the password of a store is wrong', () => {
    const store = file('locked.p12', PKCS12);
    const properties = { 'ssl.keystore.location': store, 'ssl.keystore.password': 'guessed' };
    refused(
      { 'security.protocol': 'SSL', ...properties },
      /cannot be read .*check their content and ssl\.keystore\.password/,
    );
  });

  it('disable host name verification only explicitly', () => {
    const algorithm = 'ssl.endpoint.identification.algorithm';
    assert.equal(connection({ 'security.protocol': 'SSL' }).tls?.checkServerIdentity, undefined);
    assert.equal(connection({ 'security.protocol': 'SSL', [algorithm]: 'https' }).tls?.checkServerIdentity, undefined);
    const off = connection({ 'security.protocol': 'SSL', [algorithm]: '' });
    assert.equal(off.tls?.checkServerIdentity?.('host', {} as never), undefined);
    assert.notEqual(off.tls?.checkServerIdentity, undefined);
  });

  it('limit versions and ciphers', () => {
    const { tls } = connection({
      'security.protocol': 'SSL',
      'ssl.enabled.protocols': 'TLSv1.3,TLSv1.2,SSLv2Hello',
      'ssl.cipher.suites': 'TLS_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
    });
    assert.deepEqual(
      [tls?.minVersion, tls?.maxVersion, tls?.ciphers],
      ['TLSv1.2', 'TLSv1.3', 'TLS_AES_256_GCM_SHA384:TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'],
    );
  });

  it('reject unknown versions and ciphers', () => {
    const refused = {
      'ssl.enabled.protocols': ['TLSv1.2,TLSv1.4', 'SSLv3'],
      'ssl.cipher.suites': ['TLS_NO_SUCH_SUITE'],
    };
    for (const [name, values] of Object.entries(refused)) {
      for (const value of values)
        assert.throws(() => connection({ 'security.protocol': 'SSL', [name]: value }), { name: 'ConfigError' });
    }
  });
});
