import assert from 'node:assert/strict';
import type { ClientProperties, KafkaClient } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client.ts';
import { sinkConfig } from '../support/connectors.ts';
import { refusalOf } from '../support/refusal.ts';
import { login, MECHANISMS, PASSWORD, SecureBroker, trusting, type SecureListener } from '../support/secure-broker.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { newTopic, partitionsOf, pollUntil, produceNumbers, record, recordingLogger } from './kafka-fixture.ts';

/** Shorter than the test runs, so that clients must authenticate again. */
const SESSION_MS = 4_000;

/** A broker with a listener of each kind; every client here is one that a user configures with Java's properties. */
describe('a broker that wants to know who is there', function () {
  let broker: SecureBroker;
  const { logger } = recordingLogger();

  const client = (listener: SecureListener, properties: ClientProperties): KafkaClient =>
    createKafkaClient({ 'bootstrap.servers': broker.at(listener), ...properties }, logger);

  before(async () => {
    broker = await SecureBroker.start(SESSION_MS);
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
      await movesRecords(client('BOTH', broker.overTls(mechanism)));
    });
  }

  it('takes records and gives them over TLS alone', async () => {
    await movesRecords(client('TLS', { 'security.protocol': 'SSL', ...trusting(broker.authority) }));
  });

  it('is not trusted without its certificate, and refuses a wrong password without anybody repeating it', async () => {
    const untrusted = await refusalOf(client('TLS', { 'security.protocol': 'SSL' }), 5_000);
    assert.match(untrusted, /TLS handshake failed: .*(?:self-signed certificate|unable to verify)/);
    for (const mechanism of ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']) {
      const wrong = login(mechanism, 'not-this-password');
      const refused = await refusalOf(client('SASL', { 'security.protocol': 'SASL_PLAINTEXT', ...wrong }), 5_000);
      assert.match(refused, /^Broker 127\.0\.0\.1:\d+: .*[Aa]uthentication failed/, mechanism);
      assert.ok(!refused.includes('not-this-password'), refused);
    }
  });

  it('ends sessions that are not renewed, which costs nobody a record', async () => {
    const of = client('BOTH', broker.overTls('SCRAM-SHA-512'));
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
    const secured = broker.overTls('SCRAM-SHA-512');
    const prefixed = ['', 'producer.', 'consumer.', 'admin.'].flatMap((prefix) =>
      Object.entries(secured).map(([name, value]): [string, string] => [`${prefix}${name}`, value]),
    );
    const db = await database('secured');
    const sql = new SqlClient(db);
    const worker = await WorkerProcess.start({
      properties: { ...Object.fromEntries(prefixed), 'bootstrap.servers': broker.at('BOTH') },
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
