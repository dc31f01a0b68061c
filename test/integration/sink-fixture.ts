import assert from 'node:assert/strict';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic, type TestMessage } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess, type WorkerOptions } from '../support/worker-process.ts';

type SinkServices = readonly [WorkerProcess, TestDatabase, KafkaTraffic];

/** A worker with a database of its own and the shared Kafka; `close` in an after hook. */
export class SinkFixture {
  readonly name: string;
  readonly sluice: WorkerProcess;
  readonly db: TestDatabase;
  readonly kafka: KafkaTraffic;
  readonly sql: SqlClient;

  protected constructor(name: string, [sluice, db, kafka]: SinkServices) {
    this.name = name;
    this.sluice = sluice;
    this.db = db;
    this.kafka = kafka;
    this.sql = new SqlClient(db);
  }

  /** `name`: what database, topics and connectors are called by. Offsets are committed soon, as that is what tests wait for. */
  static async create(name: string, properties: WorkerOptions['properties'] = {}): Promise<SinkFixture> {
    return new SinkFixture(name, await SinkFixture.services(name, properties));
  }

  /** The services that the constructors of this class and of its subclasses take. */
  protected static services(name: string, properties: WorkerOptions['properties'] = {}): Promise<SinkServices> {
    return Promise.all([
      WorkerProcess.start({ properties: { 'offset.flush.interval.ms': '100', ...properties } }),
      database(name),
      KafkaTraffic.shared(),
    ]);
  }

  async close(): Promise<void> {
    await Promise.all([this.sluice.discard(), this.sql.close()]);
  }

  /** A new topic with these messages; its name can be that of a table as it stands. */
  async topicOf(messages: readonly (string | TestMessage)[], partitions = 1): Promise<string> {
    const topic = uniqueName(this.name).replaceAll('-', '_');
    await this.kafka.createTopic(topic, partitions);
    await this.send(topic, messages);
    return topic;
  }

  async send(topic: string, messages: readonly (string | TestMessage)[]): Promise<void> {
    const whole = messages.map((message) => (typeof message === 'string' ? { value: message } : message));
    if (whole.length > 0) await this.kafka.produce(topic, whole);
  }

  /** Starts a sink of a topic, on this worker and into this database unless the options say otherwise; resolves with its name. */
  async start(
    topic: string,
    options: Readonly<Record<string, string>>,
    { sluice = this.sluice, db = this.db }: { sluice?: WorkerProcess | undefined; db?: TestDatabase } = {},
  ): Promise<string> {
    const name = uniqueName(`${this.name}-sink`);
    await sluice.rest.create(name, sinkConfig(db, { topics: topic, ...options }));
    return name;
  }

  /** Waits until the sink has committed this number of records; fails with the trace of the first task that has failed. */
  async done(name: string, records: number, { rest } = this.sluice): Promise<void> {
    const trace = await until(
      async () => {
        const failed = (await rest.status(name)).tasks.find((task) => task.trace !== undefined)?.trace;
        return failed ?? ((await this.kafka.committed(`connect-${name}`)) >= records ? '' : undefined);
      },
      `${name} has done ${String(records)} records`,
    );
    assert.equal(trace, '');
  }

  /** The trace of the first task, once it has failed. */
  async traceOf(name: string): Promise<string> {
    return until(async () => (await this.sluice.rest.status(name)).tasks[0]?.trace, `${name} has failed`);
  }

  /** Name, type and comment of a table's columns. */
  async columnsOf(table: string): Promise<(string | null)[][]> {
    return this.sql.rows(
      `select attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) from pg_attribute
       where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
      [table],
    );
  }
}
