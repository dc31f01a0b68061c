import assert from 'node:assert/strict';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { broker, database, uniqueName } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { randomFrom } from '../support/random.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';
import { withWorker } from './with-worker.ts';

const DEFAULT_KILLS = 20;
const LETTERS_PER_KILL = 50_000;
const BATCH = 2000;
const TIMEOUT_MS = 3_600_000;
const TABLE = 'letters';

interface Replay {
  readonly id: number;
  readonly state: string;
  readonly selected: number;
  readonly delivered: number;
  readonly failed: number;
  readonly reason: string | null;
}

/**
 * Replays 50,000 dead letters for each SIGKILL of the worker, without a key and with delivery=exactly-once. Compares
 * the rate of an undisturbed replay with the rate of the sink for the same records.
 */
export const deadLetters: Repeat = {
  unit: 'kills',
  defaultCount: DEFAULT_KILLS,
  async run({ count: kills = DEFAULT_KILLS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    print(`seed ${String(seed)}`);
    await withWorker(print, async (worker) => {
      const soak = await LetterSoak.create(worker, kills * LETTERS_PER_KILL);
      const plain = await soak.plainRate();
      print(`sink: ${String(Math.round(plain))} records/s`);
      const peaceful = await soak.replayRate();
      print(`replay: ${String(Math.round(peaceful))} letters/s, ${(peaceful / plain).toFixed(2)} of the sink's rate`);
      await soak.replayWithKills(kills, randomFrom(seed), print);
      print(`${String(soak.letters)} letters with ${String(kills)} kills: each row once, each letter counted once`);
    });
    return true;
  },
};

class LetterSoak {
  readonly letters: number;
  readonly #worker: WorkerProcess;
  readonly #sql: SqlClient;
  readonly #config: Record<string, string>;
  readonly #dead = uniqueName('dead');
  readonly #plain = uniqueName('plain');
  readonly #connector = uniqueName('replayed');

  private constructor(worker: WorkerProcess, letters: number, sql: SqlClient, config: Record<string, string>) {
    this.#worker = worker;
    this.letters = letters;
    this.#sql = sql;
    this.#config = config;
  }

  static async create(worker: WorkerProcess, letters: number): Promise<LetterSoak> {
    const db = await database('letters');
    const config = sinkConfig(db, {
      'protocol.type': 'line_lp',
      'timestamp.precision': 'ms',
      delivery: 'exactly-once',
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.replication.factor': '1',
      'errors.deadletterqueue.context.headers.enable': 'true',
    });
    const soak = new LetterSoak(worker, letters, new SqlClient(db), config);
    await soak.#prepare();
    return soak;
  }

  /** Measures the rate of the sink for valid records, from the first rows on. */
  async plainRate(): Promise<number> {
    await this.#emptyTable();
    const name = uniqueName('plain-sink');
    await this.#worker.rest.create(name, { ...this.#config, topics: this.#plain });
    const rate = await this.#rate();
    await this.#worker.rest.delete(`/connectors/${name}`);
    return rate;
  }

  async replayRate(): Promise<number> {
    await this.#emptyTable();
    const { id } = await this.#ask<Replay>('POST', 'replay', { rate: 10_000_000 });
    const rate = await this.#rate();
    await this.#done(id);
    return rate;
  }

  async replayWithKills(kills: number, random: () => number, print: (line: string) => void): Promise<void> {
    await this.#emptyTable();
    const { id } = await this.#ask<Replay>('POST', 'replay', { rate: 10_000_000 });
    for (let kill = 1; kill <= kills; kill++) {
      const at = Math.floor(((kill - random()) / kills) * this.letters * 0.98);
      await until(async () => (await this.#count()) >= at, `${String(at)} rows`, {
        timeoutMs: TIMEOUT_MS,
        everyMs: 300,
      });
      await this.#worker.kill();
      await this.#worker.start();
      print(`kill ${String(kill)} at ${String(at)} rows`);
    }
    const { state, selected, delivered } = await this.#done(id);
    print(`${state}: ${String(selected)} letters counted, ${String(delivered)} delivered`);
    assert.deepEqual([selected, delivered], [this.letters, this.letters]);
    const [[rows, distinct] = []] = await this.#sql.rows(`select count(*), count(distinct n) from ${TABLE}`);
    assert.deepEqual([Number(rows), Number(distinct)], [this.letters, this.letters]);
  }

  /** Produces the same records to a topic and as dead letters of the connector. */
  async #prepare(): Promise<void> {
    const kafka = await KafkaTraffic.shared();
    await kafka.createTopic(this.#plain, 1);
    await kafka.createTopic(this.#dead, 1);
    const source = uniqueName('nothing');
    await kafka.createTopic(source, 1);
    const { bootstrapServers } = await broker();
    const producer = createKafkaClient({ 'bootstrap.servers': bootstrapServers }, silentLogger).producer();
    await producer.connect();
    for (let from = 0; from < this.letters; from += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, this.letters - from) }, (_, index) => from + index);
      const records = numbers.map((n) => ({
        partition: 0,
        key: null,
        value: Buffer.from(`${TABLE},site=a n=${String(n)}i ${String(1_700_000_000_000 + n)}`),
        // With an older timestamp, the retention of the topic would delete the record.
        timestamp: Date.now(),
      }));
      await producer.send(records.map((record) => ({ ...record, topic: this.#plain, headers: [] })));
      const letters = records.map((record, index) => ({
        ...record,
        topic: this.#dead,
        headers: this.#headers(source, numbers[index] ?? 0),
      }));
      await producer.send(letters);
    }
    await producer.close();
    await this.#worker.rest.create(this.#connector, {
      ...this.#config,
      topics: source,
      'errors.deadletterqueue.topic.name': this.#dead,
    });
  }

  /** Returns the headers that a task of the sink writes if a check refuses a value. */
  #headers(source: string, offset: number) {
    const message = `new row for relation "${TABLE}" violates check constraint "small"`;
    const context: Record<string, string> = {
      topic: source,
      partition: '0',
      offset: String(offset),
      'connector.name': this.#connector,
      'task.id': '0',
      stage: 'TASK_PUT',
      'class.name': 'org.apache.kafka.connect.sink.SinkTask',
      'exception.class.name': 'java.sql.SQLException',
      'exception.message': message,
      'exception.stacktrace': `java.sql.SQLException: ${message}\n${'\tat sink.write(sink.ts:1)\n'.repeat(10)}`,
    };
    const own: Record<string, string> = { 'sluice.sqlstate': '23514', 'sluice.table': TABLE };
    const named = Object.entries(context).map(([key, value]) => [`__connect.errors.${key}`, value] as const);
    return [...named, ...Object.entries(own)].map(([key, value]) => ({ key, value: Buffer.from(value) }));
  }

  async #emptyTable(): Promise<void> {
    await this.#sql.run(
      `drop table if exists ${TABLE}`,
      `create table ${TABLE} (ts timestamptz(3), n int8, site varchar(20))`,
      `comment on column ${TABLE}.site is 'sluice:primary-tag'`,
    );
  }

  async #rate(): Promise<number> {
    const options = { timeoutMs: TIMEOUT_MS, everyMs: 50 };
    const first = await until(async () => (await this.#count()) || undefined, 'first rows', options);
    const startedAt = performance.now();
    await until(async () => (await this.#count()) >= this.letters, 'all rows', options);
    return ((this.letters - first) * 1000) / (performance.now() - startedAt);
  }

  async #count(): Promise<number> {
    const [[rows] = []] = await this.#sql.rows(`select count(*) from ${TABLE}`);
    return Number(rows);
  }

  async #done(id: number): Promise<Replay> {
    const ended = await until(
      async () => {
        const replay = await this.#ask<Replay>('GET', `replay/${String(id)}`).catch(() => undefined);
        return replay === undefined || replay.state === 'RUNNING' ? undefined : replay;
      },
      'the end of the replay',
      { timeoutMs: TIMEOUT_MS, everyMs: 300 },
    );
    assert.equal(ended.state, 'DONE', ended.reason ?? '');
    return ended;
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.#worker.url}/connectors/${this.#connector}/dead-letters/${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, text);
    return JSON.parse(text) as T;
  }
}
