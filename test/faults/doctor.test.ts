import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { propertiesText } from '../../src/dev/kafka/properties.ts';
import { freePort } from '../../src/dev/ports.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, database, ownBroker, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { builtCli } from '../support/worker-build.ts';

type Config = Readonly<Record<string, string>>;

interface Found {
  readonly section: string;
  readonly level: string;
  readonly about: string;
  readonly message: string;
  readonly remedy?: string;
}

interface Visit {
  readonly code: number;
  readonly output: string;
  readonly status: string;
  readonly findings: readonly Found[];
  readonly tookMs: number;
}

const STRINGS = 'org.apache.kafka.connect.storage.StringConverter';

describe('sluice doctor', function () {
  let folder: string;
  let db: TestDatabase;
  let sql: SqlClient;
  let traffic: KafkaTraffic;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-doctor-'));
    db = await database('doctor');
    sql = new SqlClient(db);
    traffic = await KafkaTraffic.shared();
  });
  after(async () => {
    await sql.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function worker(more: Config = {}): Promise<Record<string, string>> {
    const group = uniqueName('doctor');
    return {
      'bootstrap.servers': (await broker()).bootstrapServers,
      'group.id': group,
      'config.storage.topic': `${group}-configs`,
      'offset.storage.topic': `${group}-offsets`,
      'status.storage.topic': `${group}-status`,
      'config.storage.replication.factor': '1',
      'offset.storage.replication.factor': '1',
      'status.storage.replication.factor': '1',
      'key.converter': STRINGS,
      'value.converter': STRINGS,
      listeners: `http://127.0.0.1:${String(await freePort())}`,
      ...more,
    };
  }

  async function visit(properties: Config, connectors: readonly Config[] = [], text = false): Promise<Visit> {
    const file = join(folder, `${uniqueName('worker')}.properties`);
    await writeFile(file, propertiesText(properties));
    const files = connectors.map(async (config) => {
      const path = join(folder, `${uniqueName('connector')}.json`);
      await writeFile(path, JSON.stringify(config));
      return path;
    });
    const begunAt = Date.now();
    const environment = Object.entries(process.env).filter(([name]) => !name.startsWith('CONNECT_'));
    const args = [await builtCli(), 'doctor', ...(text ? [] : ['--json']), file, ...(await Promise.all(files))];
    const child = spawn(process.execPath, args, { env: Object.fromEntries(environment) });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (output += part));
    const [code] = (await once(child, 'close')) as [number];
    const tookMs = Date.now() - begunAt;
    if (text) return { code, output, status: '', findings: [], tookMs };
    const { status, sections } = JSON.parse(output) as {
      status: string;
      sections: readonly { name: string; findings: readonly Omit<Found, 'section'>[] }[];
    };
    const findings = sections.flatMap(({ name, findings: all }) => all.map((each) => ({ section: name, ...each })));
    return { code, output, status, findings, tookMs };
  }

  function finding({ findings, output }: Visit, about: string | RegExp): Found {
    const found = findings.find((each) => (typeof about === 'string' ? each.about === about : about.test(each.about)));
    assert.ok(found !== undefined, `${String(about)} is not in ${output}`);
    return found;
  }

  it('finds nothing to fix where all is well, and creates nothing', async () => {
    const topic = uniqueName('doctor-lines');
    await traffic.createTopic(topic);
    await sql.run('CREATE TABLE public.readings (ts timestamptz PRIMARY KEY, v float8)');
    const properties = await worker();
    const sink = sinkConfig(db, {
      name: uniqueName('sink'),
      topics: topic,
      'protocol.type': 'json_db',
      'tasks.max': '1',
    });
    const source = sourceConfig(db, { name: uniqueName('source'), 'tasks.max': '1', 'table.include': 'readings' });
    const well = await visit(properties, [sink, source]);
    assert.deepEqual(
      well.findings.filter(({ level }) => level !== 'ok'),
      [],
    );
    assert.equal(well.status, 'ok');
    assert.equal(well.code, 0);
    assert.match(finding(well, 'brokers').message, /^1 broker, Kafka \d\.\d, cluster \S+$/);
    assert.match(finding(well, "clock of Kafka's controller").message, /^matches the clock here/);
    assert.match(finding(well, 'database').message, /^PostgreSQL \d+/);
    assert.match(finding(well, /^config\.storage\.topic/).message, /does not exist; it will be created/);
    assert.match(finding(well, `topic ${topic}`).message, /1 partition, replication factor 1; the user has Read/);
    assert.match(finding(well, 'tables').message, /^1 to read: readings$/);
    const admin = createKafkaClient(
      { 'bootstrap.servers': properties['bootstrap.servers'] ?? '' },
      silentLogger,
    ).admin();
    const topics = await admin.topics();
    await admin.close();
    assert.deepEqual(
      topics.filter((name) => name.startsWith(properties['group.id'] ?? '')),
      [],
    );
  });

  it('names a dead broker within ten seconds, and continues with the rest', async () => {
    const port = await freePort();
    const dead = await visit(await worker({ 'bootstrap.servers': `127.0.0.1:${String(port)}` }));
    assert.equal(dead.code, 2);
    const { level, message } = finding(dead, 'brokers');
    assert.equal(level, 'fail');
    assert.match(message, new RegExp(`127\\.0\\.0\\.1:${String(port)}|no answer within 9 s`));
    assert.equal(finding(dead, /^listeners/).level, 'ok');
  });

  it('names internal topics that do not fit, each with the command that fixes it', async () => {
    const properties = await worker({ 'status.storage.replication.factor': '3' });
    await traffic.createTopic(properties['config.storage.topic'] ?? '', 2);
    const sick = await visit(properties);
    assert.equal(sick.code, 2);
    const about = sick.findings.filter((each) => each.about.startsWith('config.storage.topic'));
    assert.deepEqual(
      about.map(({ level, message }) => [level, message]),
      [
        ['fail', 'it has 2 partitions and must have one'],
        ['fail', 'cleanup.policy is delete and must be compact: what it keeps would be lost'],
      ],
    );
    assert.match(about[1]?.remedy ?? '', /^kafka-configs\.sh --bootstrap-server \S+ --alter --entity-type topics/);
    const status = finding(sick, /^status\.storage\.topic/);
    assert.match(status.message, /INVALID_REPLICATION_FACTOR/);
    assert.equal(status.remedy, 'set status.storage.replication.factor=1, or add brokers', 'N8');
  });

  it('names tables with missing privileges, with the statement that grants them', async () => {
    const user = uniqueName('poor').replaceAll('-', '_');
    await sql.run(
      `CREATE ROLE ${user} LOGIN PASSWORD 'a-secret-word'`,
      `ALTER ROLE ${user} SET statement_timeout = '2s'`,
      'CREATE TABLE public.orders (id int8 PRIMARY KEY, v int4)',
      `GRANT INSERT ON public.orders TO ${user}`,
    );
    const poor = { ...db, user, password: 'a-secret-word' };
    const upserts = { 'protocol.type': 'struct', 'insert.mode': 'upsert', 'pk.mode': 'record_key' };
    const sink = sinkConfig(poor, { name: uniqueName('sink'), topics: 'orders,missing', 'tasks.max': '1', ...upserts });
    const source = sourceConfig(poor, {
      name: uniqueName('source'),
      'tasks.max': '1',
      mode: 'bulk',
      'table.include': 'orders',
    });
    const sick = await visit(await worker(), [sink, source]);
    assert.equal(sick.code, 2);
    const [ofSink, ofSource] = sick.findings.filter(({ about }) => about === 'table orders');
    assert.equal(ofSink?.message, 'the user lacks SELECT, UPDATE');
    assert.equal(ofSink.remedy, `GRANT SELECT, UPDATE ON "public"."orders" TO "${user}";`);
    assert.equal(ofSource?.message, 'the user lacks SELECT on the table or USAGE on its schema');
    assert.match(finding(sick, 'table missing').message, /does not exist, and the sink does not create it/);
    assert.match(finding(sick, 'topic missing').message, /the sink waits for it/);
    assert.match(finding(sick, 'statement_timeout').message, /^2000 ms/);
    assert.ok(!sick.output.includes('a-secret-word'));
    await sql.run(`DROP OWNED BY ${user}`, `DROP ROLE ${user}`);
  });

  it('names a wrong password, wrong options, a port that is taken and an unreachable registry', async () => {
    const taken = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const away = await freePort();
    const properties = await worker({
      listeners: `http://127.0.0.1:${String(port)}`,
      'value.converter': 'io.confluent.connect.avro.AvroConverter',
      'value.converter.schema.registry.url': `http://someone:pass-of-registry@127.0.0.1:${String(away)}`,
      'offset.flush.intervall.ms': '1000',
    });
    const wrongOptions = sinkConfig(db, {
      name: 'wrong',
      topics: 't',
      'protocol.type': 'yaml',
      'batch.size': '0',
      topcis: 'u',
    });
    const wrongPassword = sinkConfig(db, { name: 'stranger', topics: 't', 'protocol.type': 'json_db', batchsize: '9' });
    const stranger = {
      ...wrongPassword,
      'connection.user': 'nobody_of_that_name',
      'connection.password': 'guess-of-it',
    };
    const text = (await visit(properties, [wrongOptions, stranger], true)).output;
    const sick = await visit(properties, [wrongOptions, stranger]);
    taken.close();
    assert.equal(sick.code, 2);
    assert.match(finding(sick, /^listeners/).message, /the port is taken/);
    assert.match(finding(sick, /^schema registry http:\/\/127/).message, /does not answer: ECONNREFUSED/);
    assert.match(finding(sick, 'protocol.type').message, /yaml/);
    assert.match(finding(sick, 'batch.size').message, /0/);
    assert.equal(finding(sick, 'database').level, 'fail');
    assert.equal(finding(sick, 'batchsize').remedy, 'did you mean batch.size?');
    // N6: beside what is wrong, too.
    assert.equal(finding(sick, 'topcis').remedy, 'did you mean topics?');
    assert.ok(
      sick.findings.some(({ level, message }) => level === 'warn' && message.startsWith('offset.flush.intervall')),
    );
    for (const secret of ['pass-of-registry', 'guess-of-it', ...(db.password.length > 7 ? [db.password] : [])]) {
      assert.ok(!sick.output.includes(secret) && !text.includes(secret), secret);
    }
    assert.match(text, /\n {2}fail {2}listeners \S+: the port is taken\n {8}fix: ss -ltnp /);
    assert.match(text, /\n\d+ ok, \d+ to look at, \d+ to fix\n$/);
  });

  describe('with a broker that has ACLs', () => {
    const PASSWORD = 'alices-own-word';
    let kafka: Awaited<ReturnType<typeof ownBroker>>;
    let port: number;

    before(async () => {
      port = await freePort();
      const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
      kafka = await ownBroker({
        extras: {
          listeners: [{ name: 'SASL', port, protocol: 'SASL_PLAINTEXT' }],
          properties: {
            'listener.name.sasl.sasl.enabled.mechanisms': 'PLAIN',
            'listener.name.sasl.plain.sasl.jaas.config': `${plain} user_alice="${PASSWORD}";`,
            'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
            'super.users': 'User:ANONYMOUS',
          },
        },
      });
    });
    after(() => kafka.discard());

    it('names each right that is missing, and the clients that do not log in', async () => {
      const login = {
        'security.protocol': 'SASL_PLAINTEXT',
        'sasl.mechanism': 'PLAIN',
        'sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="${PASSWORD}";`,
      };
      const ofConsumers = Object.fromEntries(Object.entries(login).map(([key, value]) => [`consumer.${key}`, value]));
      const sick = await visit(
        await worker({
          'bootstrap.servers': `127.0.0.1:${String(port)}`,
          'exactly.once.source.support': 'enabled',
          ...login,
          ...ofConsumers,
        }),
      );
      assert.equal(sick.code, 2);
      assert.equal(finding(sick, 'consumers of connectors').level, 'ok');
      assert.equal(finding(sick, 'producers of connectors').level, 'fail');
      const group = finding(sick, /^group /);
      assert.equal(group.message, 'the user lacks Read, and cannot join it');
      assert.match(
        group.remedy ?? '',
        /^kafka-acls\.sh .* --allow-principal User:alice --operation Read --group doctor-/,
      );
      assert.match(
        finding(sick, /^config\.storage\.topic/).remedy ?? '',
        /--operation Read --operation Write --topic doctor-/,
      );
      assert.equal(finding(sick, /^transactional id /).level, 'fail');
      assert.ok(!sick.output.includes(PASSWORD));
    });
  });
});
