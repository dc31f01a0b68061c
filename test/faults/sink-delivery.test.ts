import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { hasKafka } from '../support/kafka-version.ts';
import { broker, database, uniqueName, type TestDatabase } from '../support/services.ts';
import { assertEachOnce, createTable, line, SHORT_SESSION } from '../support/sink-kills.ts';
import { silenceNetwork } from '../support/silent-network.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const COOPERATIVE = { 'partition.assignment.strategy': 'cooperative-sticky' };
const DIVIDED = { 'group.protocol': 'consumer' };
/** Longer than the session of SHORT_SESSION. */
const LONG_MS = 7_000;

describe('a sink with delivery=exactly-once, into a table without a key', function () {
  let sluice: WorkerProcess;
  let db: TestDatabase;
  let kafka: KafkaTraffic;
  /** They wait more than they work, and so run at the same time. */
  let scenarios: Readonly<
    Record<'paused' | 'silent' | 'many' | 'found' | 'rebalanced' | 'cooperative' | 'divided', Promise<unknown>>
  >;

  let isDivided = false;

  before(async () => {
    isDivided = hasKafka('4.0', 'the consumer group protocol (KIP-848)');
    [sluice, db, kafka] = await Promise.all([WorkerProcess.start(), database('delivery'), KafkaTraffic.shared()]);
    scenarios = {
      paused: looking(paused),
      silent: silenceNetwork({ worker: sluice, db, kafka, silentMs: 6000 }),
      many: looking(many),
      found: looking(found),
      rebalanced: looking(rebalanced),
      cooperative: looking((sql) => visited(sql, 'cooperative', COOPERATIVE)),
      divided: isDivided ? looking((sql) => visited(sql, 'divided', DIVIDED)) : Promise.resolve(),
    };
    for (const scenario of Object.values(scenarios)) scenario.catch(() => undefined);
  });

  after(async () => {
    await Promise.allSettled(Object.values(scenarios));
    await sluice.discard();
  });

  const asked = new Set<string>();

  /** That of the scenario which runs already, or, for a second try, of another one. */
  async function outcome(name: keyof typeof scenarios, again: (sql: SqlClient) => Promise<void>): Promise<unknown> {
    if (asked.has(name)) return looking(again);
    asked.add(name);
    return scenarios[name];
  }

  async function looking(scenario: (sql: SqlClient) => Promise<void>): Promise<void> {
    const sql = new SqlClient(db);
    try {
      await scenario(sql);
    } finally {
      await sql.close();
    }
  }

  async function start(
    sql: SqlClient,
    table: string,
    topic: string,
    more: Record<string, string> = {},
  ): Promise<string> {
    await createTable(sql, table, false);
    const name = uniqueName(table);
    const config = {
      ...('topics.regex' in more ? {} : { topics: topic }),
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      delivery: 'exactly-once',
      'batch.size': '200',
      'batch.size.auto': 'false',
      ...('consumer.override.group.protocol' in more ? {} : SHORT_SESSION),
      ...more,
    };
    await sluice.rest.create(name, sinkConfig(db, config));
    return name;
  }

  async function topicFor(table: string, partitions: number): Promise<string> {
    const topic = uniqueName(table);
    await kafka.createTopic(topic, partitions);
    return topic;
  }

  async function produce(topic: string, table: string, from: number, to: number, partitions = 4): Promise<void> {
    const ids = Array.from({ length: to - from }, (_, index) => from + index);
    await kafka.produce(
      topic,
      ids.map((id) => line(table, id, partitions)),
    );
  }

  const count = (sql: SqlClient, table: string) => sql.number(`select count(*) from ${table}`);
  const arrived = (sql: SqlClient, table: string, rows: number) =>
    until(async () => (await count(sql, table)) >= rows, `${String(rows)} rows in ${table}`, { timeoutMs: 60_000 });

  /** As tools see it that ask the broker. */
  async function lag(connector: string, topic: string): Promise<number> {
    const admin = createKafkaClient({ 'bootstrap.servers': (await broker()).bootstrapServers }, silentLogger).admin();
    try {
      const committed = await admin.groupOffsets(`connect-${connector}`);
      const sum = (list: readonly { offset: number }[]) => list.reduce((total, { offset }) => total + offset, 0);
      return sum(await admin.endOffsets(topic)) - sum(committed);
    } finally {
      await admin.close();
    }
  }

  async function paused(sql: SqlClient): Promise<void> {
    const topic = await topicFor('paused', 4);
    const name = await start(sql, 'paused', topic);
    await produce(topic, 'paused', 0, 2000);
    await arrived(sql, 'paused', 2000);
    await sluice.rest.put(`/connectors/${name}/pause`);
    await sluice.rest.untilState(name, 'PAUSED', 1);
    await produce(topic, 'paused', 2000, 3000);
    await delay(LONG_MS);
    assert.deepEqual([await count(sql, 'paused'), await lag(name, topic)], [2000, 1000]);
    await sluice.rest.put(`/connectors/${name}/resume`);
    await arrived(sql, 'paused', 3000);
    await until(async () => (await lag(name, topic)) === 0, 'the lag is 0');
    await assertEachOnce(sql, 'paused', 3000);
    assert.ok(!sluice.log.split('\n').some((text) => text.includes(name) && text.includes('Partitions lost')));
  }

  async function many(sql: SqlClient): Promise<void> {
    const topic = await topicFor('many', 200);
    const name = await start(sql, 'many', topic, { 'tasks.max': '4', 'offsets.table': 'offsets_of_many' });
    await produce(topic, 'many', 0, 200, 200);
    // Tasks come up one after the other; each owns a quarter of the partitions in the end.
    const shares = 'select count(*) from offsets_of_many group by owner';
    const areShared = async () => (await sql.rows(shares)).every(([count]) => count === '50');
    await until(
      async () => (await lag(name, topic)) === 0 && (await areShared()),
      'four tasks have 50 partitions each',
    );
    await produce(topic, 'many', 200, 6000, 200);
    await arrived(sql, 'many', 6000);
    await until(async () => (await lag(name, topic)) === 0, 'the lag is 0');
    await assertEachOnce(sql, 'many', 6000);
    const owners = await sql.rows(
      'select count(*), sum(next_offset) from offsets_of_many group by owner order by 1, 2',
    );
    assert.deepEqual(
      owners,
      Array.from({ length: 4 }, () => ['50', '1500']),
    );
    await sluice.rest.untilState(name, 'RUNNING', 4);
  }

  async function found(sql: SqlClient): Promise<void> {
    const prefix = uniqueName('found');
    await kafka.createTopic(`${prefix}.a`, 4);
    await produce(`${prefix}.a`, 'found', 0, 1000);
    const metadata = { 'consumer.override.metadata.max.age.ms': '500' };
    await start(sql, 'found', '', { 'topics.regex': `${prefix}\\..*`, ...metadata });
    await arrived(sql, 'found', 1000);
    await kafka.createTopic(`${prefix}.b`, 4);
    await produce(`${prefix}.b`, 'found', 1000, 2000);
    await arrived(sql, 'found', 2000);
    await assertEachOnce(sql, 'found', 2000);
  }

  async function rebalanced(sql: SqlClient): Promise<void> {
    const topic = await topicFor('rebalanced', 4);
    const name = await start(sql, 'rebalanced', topic, { 'tasks.max': '1' });
    await slowDown(sql, 'rebalanced');
    await produce(topic, 'rebalanced', 0, 12_000);
    const { body: config } = await sluice.rest.get<Record<string, string>>(`/connectors/${name}/config`);
    for (const [tasks, rows] of [
      [2, 1000],
      [1, 3000],
      [3, 5000],
      [1, 7000],
    ] as const) {
      await arrived(sql, 'rebalanced', rows);
      await sluice.rest.put(`/connectors/${name}/config`, { ...config, 'tasks.max': String(tasks) });
      await sluice.rest.untilState(name, 'RUNNING', tasks);
    }
    await arrived(sql, 'rebalanced', 12_000);
    await assertEachOnce(sql, 'rebalanced', 12_000);
  }

  /** Another member comes and goes in the middle of batches, and stores nothing of what it is given. */
  async function visited(sql: SqlClient, table: string, settings: Record<string, string>): Promise<void> {
    const topic = await topicFor(table, 4);
    const overrides = Object.entries(settings).map(([name, value]) => [`consumer.override.${name}`, value] as const);
    const name = await start(sql, table, topic, { 'tasks.max': '1', ...Object.fromEntries<string>(overrides) });
    await slowDown(sql, table);
    await produce(topic, table, 0, 8000);
    const { bootstrapServers } = await broker();
    const client = createKafkaClient({ 'bootstrap.servers': bootstrapServers, ...settings }, silentLogger);
    for (const rows of [1000, 3000]) {
      await arrived(sql, table, rows);
      const other = client.consumer({ 'group.id': `connect-${name}` });
      const ignore = async (): Promise<void> => undefined;
      other.subscribe([topic], { onAssigned: ignore, onRevoked: ignore, onLost: ignore });
      try {
        await until(async () => {
          await other.poll(50);
          return other.assignment().length === 2;
        }, 'another member has two partitions');
      } catch (error) {
        const health = await sluice.rest.get(`/connectors/${name}/health`);
        const has = JSON.stringify(other.assignment());
        throw new Error(`the other member has ${has}; ${JSON.stringify(health.body)}`, { cause: error });
      } finally {
        await other.close(5000);
      }
    }
    await arrived(sql, table, 8000);
    await assertEachOnce(sql, table, 8000);
    const log = sluice.log.split('\n').filter((text) => text.includes(name));
    assert.ok(log.some((text) => text.includes('Partitions revoked')));
    assert.ok(!log.some((text) => text.includes('Partitions lost')));
  }

  /** So slow that there is always a batch on its way. */
  async function slowDown(sql: SqlClient, table: string): Promise<void> {
    await sql.run(
      `create function slow_${table}() returns trigger language plpgsql as 'begin perform pg_sleep(0.0005); return new; end'`,
      `create trigger slow before insert on ${table} for each row execute function slow_${table}()`,
    );
  }

  it('has each row once after the connector was paused for longer than its session, and the lag is what tools report', () =>
    scenarios.paused);
  it('has each row once after the network to the database was silent for six seconds and then lost', async () => {
    await scenarios.silent;
  });
  it('has each row of 200 partitions once, over four tasks', () => scenarios.many);
  it('has each row once of a topic that was created later and matches topics.regex', () => scenarios.found);
  it('has each row once when tasks are added and removed in the middle of batches', () => scenarios.rebalanced);
  it('has each row once where a cooperative task keeps its partitions while others join and leave', () =>
    outcome('cooperative', (sql) => visited(sql, 'cooperative_again', COOPERATIVE)));
  it('has each row once where the broker divides the partitions (KIP-848) while others join and leave', async function () {
    if (!isDivided) return this.skip();
    await outcome('divided', (sql) => visited(sql, 'divided_again', DIVIDED));
  });

  it('fails for settings with which a Java client cannot be created, with its message', async () => {
    const wrong = [
      ['group.protocol', 'nonsense', /ConfigException: Invalid value nonsense for configuration group\.protocol: /],
      [
        'partition.assignment.strategy',
        'com.example.Mine',
        /KafkaException: com\.example\.Mine ClassNotFoundException/,
      ],
    ] as const;
    for (const [setting, value, message] of wrong) {
      const name = uniqueName('wrong');
      const config = { topics: 'wrong', 'protocol.type': 'line_lp', [`consumer.override.${setting}`]: value };
      await sluice.rest.create(name, sinkConfig(db, config));
      const trace = await until(async () => (await sluice.rest.status(name)).tasks[0]?.trace, `${name} has failed`);
      assert.match(trace, message);
    }
  });
});
