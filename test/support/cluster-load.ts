import { setTimeout as delay } from 'node:timers/promises';
import type { ClientProperties, KafkaClient, Producer } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import type { BrokerCluster } from './broker-cluster.ts';
import { sinkConfig, sourceConfig } from './connectors.ts';
import { uniqueName, type TestDatabase } from './services.ts';
import { countTable, type Shortfall } from './shortfall.ts';
import { line, SHORT_SESSION } from './sink-kills.ts';
import { SqlClient } from './sql-client.ts';
import { TopicTally } from './topic-tally.ts';
import { until } from './until.ts';
import type { WorkerCluster } from './worker-cluster.ts';

/** Properties of workers on three brokers. Plain and exactly-once sources need separate workers. */
export const REPLICATED_WORKER = {
  'config.storage.replication.factor': '3',
  'offset.storage.replication.factor': '3',
  'offset.storage.partitions': '3',
  'status.storage.replication.factor': '3',
  'scheduled.rebalance.max.delay.ms': '0',
};

const PARTITIONS = 3;
/** The initial leader of partition n is broker n + 1. */
const REPLICAS = [
  [1, 2, 3],
  [2, 3, 1],
  [3, 1, 2],
];
const ROWS = 15;
const EVERY_MS = 60;
const FLOW_MS = 120_000;
/** With these options, connectors wait while the database is unavailable, also at the start of a task. */
export const PATIENT = {
  'connection.attempts': '60',
  'connection.backoff.ms': '500',
  'max.retries': '1000',
  'retry.backoff.ms': '500',
};
const COMMITTED: ClientProperties = { 'isolation.level': 'read_committed' };

/** The order of the counts. */
const CONNECTORS = ['once sink', 'upsert sink', 'once source', 'plain source'] as const;

/**
 * Sends numbered rows through two sinks (exactly-once into a table without a key, and upserts) and two sources (plain
 * and exactly-once), in compressed topics on three brokers. At the end it counts lost and duplicate rows.
 */
export class ClusterLoad {
  readonly onceSink = uniqueName('once-sink');
  readonly upsertSink = uniqueName('upsert-sink');
  readonly onceSource = uniqueName('once-source');
  readonly plainSource = uniqueName('plain-source');
  /** Transactional id of the only task of the exactly-once source. */
  readonly transactionalId: string;
  readonly #client: KafkaClient;
  readonly #producer: Producer;
  readonly #db: TestDatabase;
  readonly #sql: SqlClient;
  readonly #writer: SqlClient;
  readonly #once: WorkerCluster;
  readonly #plain: WorkerCluster;
  readonly #brokers: BrokerCluster;
  #running: Promise<unknown> | undefined;
  #stopped = false;
  #produced = 0;
  #inserted = 0;

  /** `once` are workers with `exactly.once.source.support`, `plain` workers without it. */
  constructor(brokers: BrokerCluster, db: TestDatabase, once: WorkerCluster, plain: WorkerCluster) {
    const shared = { 'bootstrap.servers': brokers.bootstrapServers, 'request.timeout.ms': '5000' };
    this.#client = createKafkaClient(shared, silentLogger);
    this.#producer = this.#client.producer({ 'enable.idempotence': 'true', 'delivery.timeout.ms': '600000' });
    this.#db = db;
    this.#sql = new SqlClient(db);
    this.#writer = new SqlClient(db);
    this.#once = once;
    this.#plain = plain;
    this.#brokers = brokers;
    this.transactionalId = `${once.worker(0).properties['group.id'] ?? ''}-${this.onceSource}-0`;
  }

  get sinkTopics(): readonly string[] {
    return [this.onceSink, this.upsertSink];
  }

  get sourceTopics(): readonly string[] {
    return [this.onceSource, this.plainSource].map((prefix) => `${prefix}-${this.#db.database}-flow-json_db`);
  }

  get rows(): { readonly produced: number; readonly inserted: number } {
    return { produced: this.#produced, inserted: this.#inserted };
  }

  /** Creates tables, topics and connectors. Resolves when rows flow through each connector. */
  async start(): Promise<void> {
    await this.#sql.run(
      'create table once_rows (k_timestamp timestamptz(3) not null, id int8, value float8, category varchar(64) not null)',
      `comment on column once_rows.category is 'sluice:primary-tag'`,
      'create table upsert_rows (id int8 primary key, value float8)',
      'create table flow (ts timestamptz not null default clock_timestamp(), n int8 primary key)',
    );
    for (const [index, topic] of this.sinkTopics.entries()) {
      const settings = { 'compression.type': index === 0 ? 'gzip' : 'lz4' };
      await this.#brokers.createTopic(topic, { replicas: REPLICAS, settings });
    }
    const json = 'org.apache.kafka.connect.json.JsonConverter';
    const lines = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', delivery: 'exactly-once' };
    const upserts = {
      'protocol.type': 'struct',
      'table.name.format': 'upsert_rows',
      'insert.mode': 'upsert',
      'pk.mode': 'record_value',
      'pk.fields': 'id',
      'value.converter': json,
      'value.converter.schemas.enable': 'false',
    };
    const sink = (topic: string, more: Readonly<Record<string, string>>) =>
      sinkConfig(this.#db, { topics: topic, 'tasks.max': '2', ...PATIENT, ...SHORT_SESSION, ...more });
    const source = (prefix: string, codec: string) =>
      sourceConfig(this.#db, {
        'topic.creation.default.compression.type': codec,
        'topic.prefix': prefix,
        'table.include': 'flow',
        'timestamp.delay.ms': '60000',
        'topic.creation.default.replication.factor': '3',
        'connection.attempts': PATIENT['connection.attempts'],
        'connection.backoff.ms': PATIENT['connection.backoff.ms'],
      });
    await Promise.all([
      this.#once.rest(0).create(this.onceSink, sink(this.onceSink, lines)),
      this.#plain.rest(0).create(this.upsertSink, sink(this.upsertSink, upserts)),
      this.#once.rest(0).create(this.onceSource, source(this.onceSource, 'zstd')),
      this.#plain.rest(0).create(this.plainSource, source(this.plainSource, 'snappy')),
    ]);
    this.#running = Promise.all([this.#produce(), this.#insert()]);
    // The result is awaited when the load ends.
    this.#running.catch(() => undefined);
    await this.untilFlows();
  }

  /** Resolves when new rows have passed through each connector, with the milliseconds that this took, by connector. */
  async untilFlows(): Promise<Readonly<Record<string, number>>> {
    const startedAt = Date.now();
    const tookMs = new Map<string, number>();
    const { produced } = this.rows;
    const sent = await until(() => this.#sent(), 'the brokers tell where topics end', { timeoutMs: FLOW_MS });
    const targets = [produced, produced, ...sent].map((mark) => mark + 2 * ROWS);
    let marks: readonly number[] = [];
    const flows = async (): Promise<boolean> => {
      marks = [...(await this.#stored()), ...(await this.#sent())];
      for (const [index, name] of CONNECTORS.entries()) {
        const isThere = (marks[index] ?? 0) >= (targets[index] ?? 0);
        if (isThere && !tookMs.has(name)) tookMs.set(name, Date.now() - startedAt);
      }
      return tookMs.size === CONNECTORS.length;
    };
    try {
      await until(flows, 'rows are everywhere', { timeoutMs: FLOW_MS, everyMs: 250 });
    } catch (error) {
      const message = `Rows do not flow (${CONNECTORS.join(', ')}): ${marks.join(', ')} of ${targets.join(', ')}`;
      throw new Error(`${message}\n${await this.#states()}`, { cause: error });
    }
    return Object.fromEntries(tookMs);
  }

  /** Ends the load, waits until all of it has arrived, and counts. */
  async finish(): Promise<readonly Shortfall[]> {
    this.#stopped = true;
    await this.#running;
    const isThere = async (): Promise<boolean> => (await this.#count()).every(({ lost }) => lost.length === 0);
    // The caller decides what missing rows mean.
    await until(isThere, 'all rows are through', { timeoutMs: FLOW_MS, everyMs: 1000 }).catch(() => undefined);
    // Duplicate rows would arrive during this time.
    await delay(2000);
    return this.#count();
  }

  /** May be called in any state. */
  async close(): Promise<void> {
    this.#stopped = true;
    await Promise.race([this.#running?.catch(() => undefined), delay(5000, undefined, { ref: false })]);
    await Promise.all([this.#producer.close(0), this.#sql.close(), this.#writer.close()]);
  }

  async #states(): Promise<string> {
    const asked = [
      [this.#once, this.onceSink],
      [this.#once, this.onceSource],
      [this.#plain, this.upsertSink],
      [this.#plain, this.plainSource],
    ] as const;
    const texts = asked.map(async ([workers, name]) => {
      const status = await workers
        .rest(0)
        .status(name)
        .catch((error: unknown) => String(error));
      return JSON.stringify(status);
    });
    return (await Promise.all(texts)).join('\n');
  }

  async #count(): Promise<readonly Shortfall[]> {
    const { produced, inserted } = this.rows;
    return [
      ...(await this.#tallied(this.sinkTopics, produced, idOf, {})),
      await countTable(this.#sql, 'once_rows', 0, produced),
      await countTable(this.#sql, 'upsert_rows', 0, produced),
      ...(await this.#tallied(this.sourceTopics.slice(0, 1), inserted, rowOf, COMMITTED)),
      ...(await this.#tallied(this.sourceTopics.slice(1), inserted, rowOf, {})),
    ];
  }

  async #produce(): Promise<void> {
    while (!this.#stopped) {
      const ids = Array.from({ length: ROWS }, (_, index) => this.#produced + index);
      const records = ids.flatMap((id) => {
        const upsert = JSON.stringify({ id, value: id / 4 });
        return [
          { topic: this.onceSink, value: line('once_rows', id).value },
          { topic: this.upsertSink, value: upsert },
        ].map(({ topic, value }) => ({
          topic,
          partition: id % PARTITIONS,
          key: null,
          value: Buffer.from(value as string),
          timestamp: null,
          headers: [],
        }));
      });
      await this.#producer.send(records);
      this.#produced += ROWS;
      await delay(EVERY_MS);
    }
  }

  /** Inserts rows. An insert whose response was lost is repeated, and its rows are still stored once. */
  async #insert(): Promise<void> {
    while (!this.#stopped) {
      const from = String(this.#inserted);
      const to = String(this.#inserted + ROWS - 1);
      const sql = `insert into flow (n) select i from generate_series(${from}, ${to}) i on conflict (n) do nothing`;
      await until(() => this.#writer.run(sql).then(() => true), 'the database takes rows', { timeoutMs: FLOW_MS });
      this.#inserted += ROWS;
      await delay(EVERY_MS);
    }
  }

  /** Returns the number of rows in the tables of the sinks; 0 while the database is unreachable. */
  async #stored(): Promise<number[]> {
    const counts = (
      await this.#sql.rows('select (select count(*) from once_rows), (select count(*) from upsert_rows)')
    )[0];
    return (counts ?? []).map(Number);
  }

  /**
   * Returns the number of committed records in the topics of the sources, which is slightly more than the number of
   * rows.
   */
  async #sent(): Promise<number[]> {
    const consumer = this.#client.consumer({ ...COMMITTED, 'default.api.timeout.ms': '10000' });
    try {
      const partitions = this.sourceTopics.map((topic) => ({ topic, partition: 0 }));
      const ends = await consumer.endOffsets(partitions);
      return partitions.map(({ topic }) => ends.find((end) => end.topic === topic)?.offset ?? 0);
    } finally {
      await consumer.close(1000);
    }
  }

  async #tallied(
    topics: readonly string[],
    rows: number,
    numberOf: (value: Buffer) => number,
    properties: ClientProperties,
  ): Promise<Shortfall[]> {
    const list: Shortfall[] = [];
    for (const topic of topics) {
      const tally = await TopicTally.of(this.#client, topic, rows, numberOf, properties);
      list.push({ where: `topic ${topic}`, rows, ...tally.faults });
    }
    return list;
  }
}

function idOf(value: Buffer): number {
  const text = value.toString();
  return text.startsWith('{') ? (JSON.parse(text) as { id: number }).id : Number(/ id=(\d+)i/.exec(text)?.[1]);
}

function rowOf(value: Buffer): number {
  const { data } = JSON.parse(value.toString()) as { data: readonly { n: number }[] };
  return data[0]?.n ?? -1;
}
