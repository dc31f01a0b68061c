import assert from 'node:assert/strict';
import { generate } from 'selfsigned';
import { freePort } from '../../src/dev/ports.ts';
import type { ClientProperties, KafkaClient } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client.ts';
import { sinkConfig } from '../support/connectors.ts';
import { refusalOf } from '../support/refusal.ts';
import { database, ownBroker, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { newTopic, partitionsOf, pollUntil, produceNumbers, record, recordingLogger } from './kafka-fixture.ts';

const USER = 'alice';
const PASSWORD = 'correct-horse-battery';
const SECURITY = 'org.apache.kafka.common.security';
const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const;
/** Shorter than the test runs, so that clients must authenticate again. */
const SESSION_MS = 4_000;

function login(mechanism: string, password = PASSWORD): ClientProperties {
  const credentials = `required username="${USER}" password="${password}";`;
  const jaas =
    mechanism === 'OAUTHBEARER'
      ? `${SECURITY}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="${USER}";`
      : `${SECURITY}.${mechanism === 'PLAIN' ? 'plain.Plain' : 'scram.Scram'}LoginModule ${credentials}`;
  return { 'sasl.mechanism': mechanism, 'sasl.jaas.config': jaas };
}

/** A broker with a listener of each kind; every client here is one that a user configures with Java's properties. */
describe('a broker that wants to know who is there', function () {
  let broker: Awaited<ReturnType<typeof ownBroker>>;
  let ports: Record<'SASL' | 'TLS' | 'BOTH', number>;
  let certificate = '';
  const { logger } = recordingLogger();

  const client = (listener: keyof typeof ports, properties: ClientProperties): KafkaClient =>
    createKafkaClient({ 'bootstrap.servers': `127.0.0.1:${String(ports[listener])}`, ...properties }, logger);
  const trusting = (): ClientProperties => ({
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.certificates': certificate,
  });
  const overTls = (mechanism: string): ClientProperties => ({
    'security.protocol': 'SASL_SSL',
    ...trusting(),
    ...login(mechanism),
  });

  before(async () => {
    const pems = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      keySize: 2048,
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    });
    certificate = pems.cert;
    const [sasl, tls, both] = await Promise.all([freePort(), freePort(), freePort()]);
    ports = { SASL: sasl, TLS: tls, BOTH: both };
    const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map((name) => `${name}=[name=${USER},password=${PASSWORD}]`);
    const perListener = (listener: string): [string, string][] => {
      const prefix = `listener.name.${listener}`;
      return [
        [`${prefix}.sasl.enabled.mechanisms`, MECHANISMS.join(',')],
        [`${prefix}.plain.sasl.jaas.config`, `${SECURITY}.plain.PlainLoginModule required user_${USER}="${PASSWORD}";`],
        [`${prefix}.scram-sha-256.sasl.jaas.config`, `${SECURITY}.scram.ScramLoginModule required;`],
        [`${prefix}.scram-sha-512.sasl.jaas.config`, `${SECURITY}.scram.ScramLoginModule required;`],
        [
          `${prefix}.oauthbearer.sasl.jaas.config`,
          `${SECURITY}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
        ],
      ];
    };
    broker = await ownBroker({
      extras: {
        listeners: [
          { name: 'SASL', port: sasl, protocol: 'SASL_PLAINTEXT' },
          { name: 'TLS', port: tls, protocol: 'SSL' },
          { name: 'BOTH', port: both, protocol: 'SASL_SSL' },
        ],
        properties: {
          'ssl.keystore.type': 'PEM',
          'ssl.keystore.key': pems.private,
          'ssl.keystore.certificate.chain': certificate,
          'ssl.truststore.type': 'PEM',
          'ssl.truststore.certificates': certificate,
          'connections.max.reauth.ms': String(SESSION_MS),
          ...Object.fromEntries([...perListener('sasl'), ...perListener('both')]),
        },
        formatArguments: scram.flatMap((user) => ['--add-scram', user]),
      },
    });
  });
  after(() => broker.discard());

  async function movesRecords(of: KafkaClient): Promise<void> {
    const topic = await newTopic(of, 2);
    await produceNumbers(of, topic, { count: 2_000, partitions: 2 });
    const consumer = of.consumer({ 'auto.offset.reset': 'earliest' });
    consumer.assign(partitionsOf(topic, 2));
    try {
      const records = await pollUntil(consumer, (got) => got.length >= 2_000);
      assert.equal(new Set(records.map(({ value }) => value?.toString())).size, 2_000);
    } finally {
      await consumer.close(1000);
    }
  }

  for (const mechanism of MECHANISMS) {
    it(`takes records and gives them by ${mechanism}, with TLS and without`, async () => {
      await movesRecords(client('SASL', { 'security.protocol': 'SASL_PLAINTEXT', ...login(mechanism) }));
      await movesRecords(client('BOTH', overTls(mechanism)));
    });
  }

  it('takes records and gives them over TLS alone', async () => {
    await movesRecords(client('TLS', { 'security.protocol': 'SSL', ...trusting() }));
  });

  it('is not trusted without its certificate, and refuses a wrong password without anybody repeating it', async () => {
    const untrusted = await refusalOf(client('TLS', { 'security.protocol': 'SSL' }), 5_000);
    assert.match(untrusted, /TLS handshake failed: .*self-signed certificate/);
    for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']) {
      const wrong = login(mechanism, 'not-this-password');
      const refused = await refusalOf(client('SASL', { 'security.protocol': 'SASL_PLAINTEXT', ...wrong }), 5_000);
      assert.match(refused, /^Broker 127\.0\.0\.1:\d+: .*[Aa]uthentication failed/, mechanism);
      assert.ok(!refused.includes('not-this-password'), refused);
    }
  });

  it('ends sessions that are not renewed, which costs nobody a record', async () => {
    const of = client('BOTH', overTls('SCRAM-SHA-512'));
    const topic = await newTopic(of);
    const [producer, consumer] = [of.producer(), of.consumer({ 'auto.offset.reset': 'earliest' })];
    consumer.assign(partitionsOf(topic, 1));
    const read: string[] = [];
    const begun = Date.now();
    let sent = 0;
    while (Date.now() - begun < 1.5 * SESSION_MS) {
      await producer.send([record(topic, String(sent++))]);
      for (const { value } of await consumer.poll(50)) read.push(String(value));
    }
    await until(async () => {
      for (const { value } of await consumer.poll(50)) read.push(String(value));
      return read.length === sent;
    }, 'all records are read');
    assert.deepEqual(
      read,
      Array.from({ length: sent }, (_none, index) => String(index)),
    );
    await Promise.all([producer.close(), consumer.close(1000)]);
  });

  it('serves a whole worker: its topics, its group and a sink', async () => {
    const secured = overTls('SCRAM-SHA-512');
    const prefixed = ['', 'producer.', 'consumer.', 'admin.'].flatMap((prefix) =>
      Object.entries(secured).map(([name, value]): [string, string] => [`${prefix}${name}`, value]),
    );
    const db = await database('secured');
    const sql = new SqlClient(db);
    const worker = await WorkerProcess.start({
      properties: { ...Object.fromEntries(prefixed), 'bootstrap.servers': `127.0.0.1:${String(ports.BOTH)}` },
    });
    try {
      const of = client('BOTH', secured);
      const topic = await newTopic(of);
      await sql.run('create table lines (k_timestamp timestamptz not null, id int8, site varchar(8) not null)');
      await sql.run(`comment on column lines.site is 'sluice:primary-tag'`);
      const config = { topics: topic, 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' };
      const name = uniqueName('secured');
      await worker.rest.create(name, sinkConfig(db, config));
      const producer = of.producer();
      const lines = Array.from({ length: 500 }, (_none, id) => `lines,site=a id=${String(id)}i ${String(1.7e12 + id)}`);
      await producer.send(lines.map((line) => record(topic, line)));
      await producer.close();
      await until(async () => (await sql.number('select count(*) from lines')) === 500, 'the rows are there');
      await worker.rest.untilState(name, 'RUNNING', 1);
      assert.ok(!worker.log.includes(PASSWORD), 'the log holds no password');
    } finally {
      await worker.discard();
      await sql.close();
    }
  });
});
