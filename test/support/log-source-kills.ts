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
  /** A worker with or without `exactly.once.source.support`. */
  readonly worker: WorkerProcess;
  readonly server: LocalPostgres;
  readonly db: TestDatabase;
  /** The broker of the worker, if the broker is to be killed too. */
  readonly broker?: LocalKafka | undefined;
  readonly kills: number;
  /** If true, consumers of committed records must see each row exactly once; otherwise, at least once. */
  readonly once: boolean;
  /** Returns a number from 0 to 1, without 1. */
  readonly random?: () => number;
  readonly print?: (line: string) => void;
}

/**
 * Repeatedly kills the worker, the server or the broker by SIGKILL while overlapping transactions write rows.
 * Transactions have one row or many, and some are rolled back. Rejects unless each row of the table is in the topic
 * afterwards (once, if `once` is set).
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
    // An interrupted snapshot starts again, so its rows are in the topic twice.
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

/** Chooses the worker in most cases. */
function chosen(
  random: number,
  { worker, server, broker }: Pick<LogSourceKills, 'worker' | 'server' | 'broker'>,
): { kill(): Promise<void>; start(): Promise<void> } {
  if (random < 0.6) return worker;
  return random < 0.8 || broker === undefined ? server : broker;
}

/** The topic may have millions of records, so they are only counted. `rows` are the numbers of the committed rows, in ascending order. */
async function assertThere(kafka: KafkaTraffic, topic: string, rows: readonly number[], once: boolean): Promise<void> {
  const isolation = { 'isolation.level': once ? 'read_committed' : 'read_uncommitted' };
  const numberOf = (value: Buffer): number => {
    const { after } = JSON.parse(value.toString()) as { readonly after?: { readonly n: number } };
    return after?.n ?? -1;
  };
  const tally = () => kafka.tally(topic, (rows.at(-1) ?? 0) + 1, numberOf, isolation);
  const arrived = async (): Promise<boolean> => {
    const seen = await tally();
    return rows.every((n) => seen.times(n) > 0);
  };
  await until(arrived, `${String(rows.length)} rows are in ${topic}`, { timeoutMs: 180_000, everyMs: 500 });
  // Surplus records would arrive during this time.
  await delay(1000);
  const found = await tally();
  const committed = new Set(rows);
  const wrong: number[] = [];
  for (let n = 0; n <= (rows.at(-1) ?? 0); n++) {
    const times = found.times(n);
    if (committed.has(n) ? times === 0 || (once && times > 1) : times > 0) wrong.push(n);
  }
  assert.deepEqual(wrong.slice(0, 10), [], 'no row is lost, none is there twice, and none was rolled back');
}

/** Writes rows until it is stopped. It continues after the server has closed its connection. */
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
        // The server is unreachable, or has rolled the transaction back.
        await this.#sql.run('rollback').catch(() => undefined);
        await delay(100);
      }
    }
  }
}
