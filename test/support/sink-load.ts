import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaClient, Producer } from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import type { BrokerCluster, ClusterTopic } from './broker-cluster.ts';
import { PATIENT } from './cluster-load.ts';
import { sinkConfig } from './connectors.ts';
import type { ConnectRest } from './rest.ts';
import { uniqueName, type TestDatabase } from './services.ts';
import { countTable, type Shortfall } from './shortfall.ts';
import { createTable, line } from './sink-kills.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';

export const CODECS = ['gzip', 'snappy', 'lz4', 'zstd'] as const;

export interface SinkLoadOptions {
  readonly codec: (typeof CODECS)[number];
  readonly delivery: 'at-least-once' | 'exactly-once';
  readonly partitions?: number;
  readonly tasks?: number;
  /** Overrides the defaults: replicas on all three brokers, and the codec. */
  readonly topic?: ClusterTopic;
  /** Options of the connector that override the defaults. */
  readonly config?: Readonly<Record<string, string>>;
}

const ROWS = 150;
const EVERY_MS = 100;
const ARRIVAL_MS = 240_000;

/**
 * Sends rows with the numbers 0, 1, 2 … through one sink, from a compressed topic on three brokers to a table without a
 * key.
 */
export class SinkLoad {
  /** Name of the connector and the topic. */
  readonly name: string;
  readonly table: string;
  readonly delivery: SinkLoadOptions['delivery'];
  readonly codec: string;
  readonly config: Readonly<Record<string, string>>;
  readonly sql: SqlClient;
  readonly #topic: ClusterTopic;
  readonly #brokers: BrokerCluster;
  readonly #client: KafkaClient;
  #partitions: number;
  #producer: Producer;
  #produced = 0;
  /** The number of the first row in the current topic. */
  #first = 0;
  /** Number of initial rows that the sink skips. */
  #skipped = 0;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(brokers: BrokerCluster, db: TestDatabase, options: SinkLoadOptions) {
    const { codec, delivery, partitions = 3, tasks = partitions, topic = {}, config = {} } = options;
    this.name = uniqueName(`${codec}-${delivery}`);
    this.table = this.name.replaceAll('-', '_');
    this.codec = codec;
    this.delivery = delivery;
    this.config = sinkConfig(db, {
      topics: this.name,
      'tasks.max': String(tasks),
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      delivery,
      ...PATIENT,
      ...config,
    });
    this.sql = new SqlClient(db);
    this.#topic = topic;
    this.#brokers = brokers;
    this.#partitions = partitions;
    const shared = { 'bootstrap.servers': brokers.bootstrapServers, 'request.timeout.ms': '5000' };
    this.#client = createKafkaClient(shared, silentLogger);
    this.#producer = this.#newProducer();
  }

  get produced(): number {
    return this.#produced;
  }

  async prepare(): Promise<void> {
    await createTable(this.sql, this.table, false);
    await this.#createTopic();
  }

  create(rest: ConnectRest): Promise<void> {
    return rest.create(this.name, this.config);
  }

  /**
   * Returns the body of a request that creates the connector with `initial_offsets`, so that it begins with row
   * `first`.
   */
  creationFrom(first: number): Readonly<Record<string, unknown>> {
    this.#skipped = first;
    const offsets = Array.from({ length: this.#partitions }, (_, partition) => ({
      partition: { kafka_topic: this.name, kafka_partition: partition },
      offset: { kafka_offset: first / this.#partitions },
    }));
    return { name: this.name, config: { name: this.name, ...this.config }, initial_offsets: offsets };
  }

  /** Produces this number of rows immediately. */
  async produce(rows: number): Promise<void> {
    for (let sent = 0; sent < rows; sent += ROWS) await this.#send(Math.min(ROWS, rows - sent));
  }

  /** Produces rows until `pause` is called. */
  begin(): void {
    this.#stopped = false;
    this.#running = (async () => {
      while (!this.#stopped) {
        await this.#send(ROWS);
        await delay(EVERY_MS);
      }
    })();
    // The result is awaited when the load is paused.
    this.#running.catch(() => undefined);
  }

  async pause(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    this.#running = undefined;
  }

  /** Resolves when new rows of every partition are in the table. */
  async untilFlows(): Promise<void> {
    const sql = `select count(distinct id % ${String(this.#partitions)}) from ${this.table} where id >= ${String(this.#produced)}`;
    const flows = async () => (await this.sql.number(sql)) === this.#partitions;
    await until(flows, `rows flow from all partitions of ${this.name}`, { timeoutMs: ARRIVAL_MS, everyMs: 250 });
  }

  /** Resolves when all produced rows are in the table. */
  async untilStored(): Promise<void> {
    const rows = this.#produced - this.#skipped;
    const count = `select count(distinct id) from ${this.table}`;
    await until(async () => (await this.sql.number(count)) >= rows, `${String(rows)} rows of ${this.name}`, {
      timeoutMs: ARRIVAL_MS,
      everyMs: 250,
    });
  }

  /** Deletes the topic and creates it again. The numbers of new rows continue. */
  async recreateTopic(partitions = this.#partitions): Promise<void> {
    await this.#producer.close();
    const admin = this.#client.admin();
    await admin.deleteTopics([this.name]);
    await admin.close();
    this.#partitions = partitions;
    this.#first = this.#produced;
    await until(() => this.#createTopic().then(() => true), `${this.name} is created again`, { everyMs: 200 });
    this.#producer = this.#newProducer();
  }

  /** Removes rows from the expected ones, because the end of the topic was truncated. */
  async cut(rows: number): Promise<void> {
    this.#first += rows;
    await this.#producer.close(0);
    this.#producer = this.#newProducer();
  }

  /** Ends the load, waits until all rows are stored and their offsets committed, and counts. */
  async finish(): Promise<Shortfall> {
    await this.pause();
    const lag = async () => this.#produced - this.#first - (await this.#committed());
    await until(async () => (await lag()) === 0, `the lag of ${this.name} is 0`, {
      timeoutMs: ARRIVAL_MS,
      everyMs: 250,
    }).catch((error: unknown) => {
      process.stdout.write(`    (${String(error)})\n`);
    });
    return countTable(this.sql, this.table, this.#skipped, this.#produced);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#producer.close(0);
    await this.#running?.catch(() => undefined);
    await this.sql.close();
  }

  async #committed(): Promise<number> {
    const admin = this.#client.admin();
    try {
      const offsets = await admin.groupOffsets(`connect-${this.name}`);
      return offsets.reduce((sum, { offset }) => sum + Math.max(0, offset), 0);
    } finally {
      await admin.close();
    }
  }

  async #createTopic(): Promise<void> {
    const replicas = Array.from({ length: this.#partitions }, (_, n) => [0, 1, 2].map((next) => ((n + next) % 3) + 1));
    const settings = { 'compression.type': this.codec, ...this.#topic.settings };
    await this.#brokers.createTopic(this.name, { replicas, ...this.#topic, settings });
  }

  async #send(rows: number): Promise<void> {
    const records = Array.from({ length: rows }, (_, index) => {
      const { value, partition } = line(this.table, this.#produced + index, this.#partitions);
      assert.ok(typeof value === 'string');
      return {
        topic: this.name,
        partition: partition ?? 0,
        key: null,
        value: Buffer.from(value),
        timestamp: null,
        headers: [],
      };
    });
    await this.#producer.send(records);
    this.#produced += rows;
  }

  #newProducer(): Producer {
    return this.#client.producer({ 'enable.idempotence': 'true', 'delivery.timeout.ms': '600000' });
  }
}
