import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { LocalKafka } from '../../src/dev/kafka.ts';
import type { LocalPostgres } from '../../src/dev/postgres.ts';
import { KafkaTraffic } from './kafka-traffic.ts';
import { logSourceConfig } from './log-source.ts';
import { uniqueName, type TestDatabase } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

const PAST_ROWS = 2_000;

export interface LogSourceKills {
  /** With `exactly.once.source.support`, or without. */
  readonly worker: WorkerProcess;
  readonly server: LocalPostgres;
  readonly db: TestDatabase;
  /** The broker of the worker, if it is to be killed too. */
  readonly broker?: LocalKafka | undefined;
  readonly kills: number;
  /** Whether each row must be there once, for readers of what is committed; else at least once. */
  readonly once: boolean;
  /** Between 0 and 1. */
  readonly random?: () => number;
  readonly print?: (line: string) => void;
}

/**
 * Kills the worker, the server or the broker with -9 again and again while rows are written by transactions that overlap, of one row and of many,
 * some of them rolled back. Rejects unless each row of the table then is in the topic, once.
 */
export async function killLogSource({
  worker,
  server,
  db,
  broker,
  kills,
  once,
  random = Math.random,
  print = () => undefined,
}: LogSourceKills): Promise<void> {
  const kafka = broker === undefined ? await KafkaTraffic.shared() : new KafkaTraffic(broker.bootstrapServers);
  const sql = new SqlClient(db);
  const table = uniqueName('killed').replaceAll('-', '_');
  await sql.run(
    `create table ${table} (n bigint generated always as identity primary key, pad text)`,
    `insert into ${table} (pad) select 'past' from generate_series(1, ${String(PAST_ROWS)})`,
  );
  const config = logSourceConfig(db, { 'table.include.list': `public.${table}`, 'max.batch.size': '200' });
  const topic = `${config['topic.prefix'] ?? ''}.public.${table}`;
  const name = uniqueName('killed');
  const writers: Writer[] = [];
  try {
    await kafka.createTopic(topic);
    await worker.rest.create(name, config);
    // A snapshot that is interrupted begins again, so that its rows are there twice.
    let seen = (await kafka.read(topic, ({ length }) => length >= PAST_ROWS, 120_000)).length;
    writers.push(new Writer(db, table, random), new Writer(db, table, random));
    for (let kill = 1; kill <= kills; kill++) {
      const isolation = { 'isolation.level': once ? 'read_committed' : 'read_uncommitted' };
      seen = (await kafka.read(topic, ({ length }) => length > seen, 120_000, isolation)).length;
      await delay(random() * 700);
      const victim = chosen(random(), { worker, server, broker });
      await victim.kill();
      await victim.start();
      if (kill % 10 === 0) print(`${String(kill)} kills, ${String(seen)} records`);
    }
    await Promise.all(writers.map((writer) => writer.end()));
    const rows = await until(() => sql.rows(`select n from ${table} order by n`), 'the table can be read');
    await assertThere(
      kafka,
      topic,
      rows.map(([n]) => Number(n)),
      once,
    );
    print(`${String(kills)} kills, ${String(rows.length)} rows`);
    await worker.rest.delete(`/connectors/${name}`);
  } catch (error) {
    print(worker.logTail());
    throw error;
  } finally {
    await Promise.all(writers.map((writer) => writer.close()));
    await sql.close();
  }
}

/** Mostly the worker. */
function chosen(
  random: number,
  { worker, server, broker }: Pick<LogSourceKills, 'worker' | 'server' | 'broker'>,
): { kill(): Promise<void>; start(): Promise<void> } {
  if (random < 0.6) return worker;
  return random < 0.8 || broker === undefined ? server : broker;
}

async function assertThere(kafka: KafkaTraffic, topic: string, rows: readonly number[], once: boolean): Promise<void> {
  const isolation = { 'isolation.level': once ? 'read_committed' : 'read_uncommitted' };
  const numbers = async (): Promise<readonly number[]> =>
    (await kafka.all(topic, isolation)).map(({ value }) => {
      const { after } = JSON.parse(value?.toString() ?? '{}') as { readonly after?: { readonly n: number } };
      return after?.n ?? -1;
    });
  await until(async () => new Set(await numbers()).size >= rows.length, `${String(rows.length)} rows are in ${topic}`, {
    timeoutMs: 180_000,
    everyMs: 500,
  });
  // More would come now.
  await delay(1000);
  const found = await numbers();
  const sorted = [...(once ? found : new Set(found))].sort((one, other) => one - other);
  assert.equal(sorted.length, rows.length, 'no row is lost, and none is there twice');
  assert.deepEqual(sorted, rows);
}

/** Writes rows until it is ended; continues after the server has ended its connection. */
class Writer {
  readonly #sql: SqlClient;
  readonly #table: string;
  readonly #random: () => number;
  readonly #writing: Promise<void>;
  #isEnding = false;

  constructor(db: TestDatabase, table: string, random: () => number) {
    this.#sql = new SqlClient(db);
    this.#table = table;
    this.#random = random;
    this.#writing = this.#write();
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.end();
    await this.#sql.close();
  }

  async #write(): Promise<void> {
    while (!this.#isEnding) {
      const rows = this.#random() < 0.2 ? 300 : 1;
      const insert = `insert into ${this.#table} (pad) select repeat('x', 20) from generate_series(1, ${String(rows)})`;
      const copy = `copy ${this.#table} (pad) from program 'seq 1 ${String(rows)}'`;
      const end = this.#random() < 0.1 ? 'rollback' : 'commit';
      try {
        await this.#sql.run('begin', this.#random() < 0.3 ? copy : insert);
        await delay(this.#random() * 20);
        await this.#sql.run(insert, end);
        await delay(20);
      } catch {
        // The server is unreachable, or has rolled back.
        await this.#sql.run('rollback').catch(() => undefined);
        await delay(100);
      }
    }
  }
}
