import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/dev/ports.ts';
import type { LocalPostgres } from '../../src/dev/postgres.ts';
import { untilHealth } from '../support/connector-health.ts';
import { sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaProxy } from '../support/kafka-proxy.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, onServer, ownBroker, ownPostgres, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PLUGINS = fileURLToPath(new URL('../support/waiting-plugins', import.meta.url));
const [PRODUCE, OFFSET_COMMIT, END_TXN] = [0, 8, 26];

interface Health {
  readonly verdict: string;
  readonly sentence: string;
  readonly reasons: readonly string[];
}

/** Issue 18: what is refused, or not acknowledged, is made for real, and named rightly. */
describe('the health of a connector names', function () {
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  let postgres: LocalPostgres;
  let db: TestDatabase;
  let sql: SqlClient;
  let proxy: KafkaProxy;
  let created: string[] = [];

  before(async () => {
    [worker, kafka, postgres, proxy] = await Promise.all([
      WorkerProcess.start({
        properties: {
          'plugin.path': PLUGINS,
          'offset.flush.interval.ms': '200',
          'task.shutdown.graceful.timeout.ms': '500',
          'stall.after.ms': '1500',
          'exactly.once.source.support': 'enabled',
        },
      }),
      KafkaTraffic.shared(),
      ownPostgres({ settings: { max_prepared_transactions: '2' } }),
      KafkaProxy.start((await broker()).bootstrapServers),
    ]);
    db = onServer(postgres, 'postgres');
    sql = new SqlClient(db);
  });

  after(async () => {
    await Promise.all([worker.discard(), sql.close(), proxy.close()]);
    await postgres.discard();
  });

  afterEach(async () => {
    for (const name of created) await worker.rest.delete(`/connectors/${name}`);
    created = [];
  });

  async function create(name: string, config: Record<string, string>): Promise<void> {
    await worker.rest.create(name, config);
    created.push(name);
  }

  const untilVerdict = (name: string, verdict: string, text: RegExp): Promise<Health> =>
    untilHealth(worker.rest, name, [verdict, text], 30_000);

  async function lineSink(more: Record<string, string> = {}): Promise<string> {
    const name = uniqueName('refusal');
    await sql.run(`create table "${name}" (ts timestamptz not null, v int)`);
    await kafka.createTopic(name, 1);
    await create(name, sinkConfig(db, { topics: name, 'protocol.type': 'line_lp', ...more }));
    await untilVerdict(name, 'RUNNING', / 0 records behind/);
    return name;
  }

  const line = (name: string, v: number) => ({ value: `${name} v=${String(v)}i` });
  const rows = (name: string) => sql.number(`select count(*) from "${name}"`);

  async function tableSource(more: Record<string, string>): Promise<string> {
    const name = uniqueName('refusal');
    await sql.run(
      `create table "${name}" (ts timestamptz not null, v int)`,
      `insert into "${name}" select now() - '1 hour'::interval, 1`,
    );
    await create(name, sourceConfig(db, { 'table.include': name, 'topic.prefix': name, ...more }));
    return name;
  }

  it('a record that cannot be converted, and where it is', async () => {
    const name = uniqueName('refusal');
    await kafka.createTopic(name, 1);
    await kafka.produce(name, [{ value: '{"good": 1}' }, { value: 'no json' }]);
    await create(name, {
      'connector.class': 'WaitingSink',
      'task.does': 'nothing',
      topics: name,
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'consumer.override.auto.offset.reset': 'earliest',
    });
    await untilVerdict(
      name,
      'FAILED',
      new RegExp(
        `^Task 0 has failed: unknown word, found 'n' at line 1, column 1 \\(VALUE_CONVERTER, topic ${name}, partition 0, offset 1\\); it is not restarted, because the failure is of the kind data `,
      ),
    );
  });

  it('a record that a transform rejects, and where it is', async () => {
    const name = uniqueName('refusal');
    await kafka.createTopic(name, 1);
    await kafka.produce(name, [{ value: 'no number' }]);
    await create(name, {
      'connector.class': 'WaitingSink',
      'task.does': 'nothing',
      topics: name,
      transforms: 'cast',
      'transforms.cast.type': 'org.apache.kafka.connect.transforms.Cast$Value',
      'transforms.cast.spec': 'int64',
      'consumer.override.auto.offset.reset': 'earliest',
    });
    await untilVerdict(
      name,
      'FAILED',
      new RegExp(`: For input string: "no number" \\(TRANSFORMATION, topic ${name}, partition 0, offset 0\\); `),
    );
  });

  it('a topic that the brokers do not create, and why: no replicas, a setting', async () => {
    const replicated = await tableSource({ 'topic.creation.default.replication.factor': '3' });
    await untilVerdict(
      replicated,
      'FAILED',
      new RegExp(
        `Creating topic ${replicated}-postgres-${replicated}-json_db: .* only 1 broker.* the kind configuration `,
      ),
    );
    const misconfigured = await tableSource({ 'topic.creation.default.retention.ms': 'for ever' });
    await untilVerdict(
      misconfigured,
      'FAILED',
      new RegExp(`Creating topic ${misconfigured}-.*: Invalid value for ever for configuration retention.ms`),
    );
  });

  it('a topic that the user may not create', async () => {
    const port = await freePort();
    const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule required';
    const password = uniqueName('secret');
    const guarded = await ownBroker({
      extras: {
        listeners: [{ name: 'SASL', port, protocol: 'SASL_PLAINTEXT' }],
        properties: {
          'listener.name.sasl.sasl.enabled.mechanisms': 'PLAIN',
          'listener.name.sasl.plain.sasl.jaas.config': `${plain} user_alice="${password}";`,
          'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
          'super.users': 'User:ANONYMOUS',
        },
      },
    });
    try {
      const name = await tableSource({
        'admin.override.bootstrap.servers': `127.0.0.1:${String(port)}`,
        'admin.override.security.protocol': 'SASL_PLAINTEXT',
        'admin.override.sasl.mechanism': 'PLAIN',
        'admin.override.sasl.jaas.config': `${plain} username="alice" password="${password}";`,
      });
      const { sentence } = await untilVerdict(
        name,
        'FAILED',
        new RegExp(`Topic ${name}-.*TOPIC_AUTHORIZATION_FAILED.* the kind configuration `),
      );
      assert.ok(!sentence.includes(password));
    } finally {
      await guarded.discard();
    }
  });

  for (const [what, apiKey] of [
    ['records that Kafka does not acknowledge', PRODUCE],
    ['a transaction whose commit Kafka does not acknowledge', END_TXN],
  ] as const) {
    it(what, async () => {
      const swallowed = proxy.swallowAcknowledgements(apiKey);
      const name = await tableSource({ 'producer.override.bootstrap.servers': proxy.bootstrapServers });
      await swallowed;
      await untilVerdict(
        name,
        'STALLED',
        /^Task 0: 1 record waits, and nothing was acknowledged for \d+ s: Kafka has not acknowledged the records\.$/,
      );
      proxy.pass();
      proxy.cut();
      await untilVerdict(name, 'RUNNING', /^1 task runs\.$/);
      assert.equal((await kafka.texts(`${name}-postgres-${name}-json_db`, 1)).length, 1);
    });
  }

  it('offsets whose commit Kafka does not acknowledge, while records are delivered', async () => {
    const name = await lineSink({ 'consumer.override.bootstrap.servers': proxy.bootstrapServers });
    const swallowed = proxy.swallowAcknowledgements(OFFSET_COMMIT);
    await kafka.produce(name, [line(name, 1)]);
    await swallowed;
    await kafka.produce(name, [line(name, 2)]);
    await until(async () => (await rows(name)) === 2, 'both rows are stored');
    const { reasons } = await untilVerdict(
      name,
      'RUNNING',
      /^1 task runs, 0 records behind; Kafka has not acknowledged the offsets of task 0 for \d+ s\.$/,
    );
    assert.match(reasons[0] ?? '', /; when the task starts again, it reads their records again\.$/);
    proxy.pass();
    proxy.cut();
    await untilVerdict(name, 'RUNNING', /^1 task runs, 0 records behind\.$/);
    await until(async () => (await kafka.committed(`connect-${name}`)) === 2, 'both offsets are committed');
  });

  it('a prepared transaction that holds a lock', async () => {
    const name = await lineSink();
    await sql.run('begin', `lock table "${name}" in access exclusive mode`, `prepare transaction '${name}'`);
    await kafka.produce(name, [line(name, 1)]);
    await untilVerdict(
      name,
      'STALLED',
      /: the database waits for a lock that a prepared transaction holds \(pg_prepared_xacts\)\.$/,
    );
    await sql.run(`rollback prepared '${name}'`);
    await until(async () => (await rows(name)) === 1, 'the row is stored');
    await untilVerdict(name, 'RUNNING', / 0 records behind/);
  });

  it('a commit of the database that no standby confirms', async () => {
    const name = await lineSink();
    const confirmedBy = (standby: string) =>
      sql.run(`alter system set synchronous_standby_names = '${standby}'`, 'select pg_reload_conf()');
    await confirmedBy('nobody');
    try {
      await kafka.produce(name, [line(name, 1)]);
      await untilVerdict(
        name,
        'STALLED',
        /: the commit waits for a standby to confirm it \(synchronous_standby_names\)\.$/,
      );
    } finally {
      await confirmedBy('');
    }
    await untilVerdict(name, 'RUNNING', / 0 records behind/);
    assert.equal(await rows(name), 1);
  });
});
