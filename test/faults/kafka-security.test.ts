import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { PASSWORD, SecureBroker } from '../support/secure-broker.ts';
import { database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { newTopic, partitionsOf, record } from '../integration/kafka-fixture.ts';

/** Shorter than the test runs, so that clients must authenticate again. */
const SESSION_MS = 4_000;

/** A broker with a listener of each kind; every client here is one that a user configures with Java's properties. */
describe('a broker that requires authentication', function () {
  let broker: SecureBroker;

  before(async () => (broker = await SecureBroker.start(SESSION_MS)));
  after(() => broker.discard());

  it('ends sessions that are not renewed, and no record is lost', async () => {
    const of = broker.client('BOTH', broker.overTls('SCRAM-SHA-512'));
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
      const of = broker.client('BOTH', secured);
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
