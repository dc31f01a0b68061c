import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sourceConfig } from './connectors.ts';
import { KafkaTraffic } from './kafka-traffic.ts';
import { uniqueName, type TestDatabase } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Number of rows that exist at the start, with times in the past. */
const PAST_ROWS = 5_000;
/** One table with a key, and one without a key in which many rows have the same time. */
const TABLES = [
  { table: 'keyed', key: ', primary key (ts, n)', time: 'clock_timestamp()' },
  { table: 'plain', key: '', time: `date_trunc('second', clock_timestamp())` },
] as const;
/** Longer than the worker is down, even on a slow machine. */
const DELAY_MS = '60000';

export interface SourceKills {
  /** A worker with or without `exactly.once.source.support`. */
  readonly worker: WorkerProcess;
  readonly db: TestDatabase;
  readonly kills: number;
  /** If true, consumers of committed records must see each row exactly once; otherwise, at least once. */
  readonly once: boolean;
  /** Returns a number from 0 to 1, without 1. */
  readonly random?: () => number;
  readonly print?: (line: string) => void;
}

/**
 * Repeatedly kills a worker by SIGKILL while its source reads tables. Overlapping transactions and subtransactions
 * insert rows meanwhile. Rejects unless each row is in its topic afterwards, and the rows with past times are in order.
 */
export async function killSources({
  worker,
  db,
  kills,
  once,
  random = Math.random,
  print = () => undefined,
}: SourceKills) {
  const kafka = await KafkaTraffic.shared();
  const writer = new OverlappingWriter(db);
  const prefix = uniqueName('killed');
  const name = uniqueName('killed');
  const topics = TABLES.map(({ table }) => `${prefix}-${db.database}-${table}-json_db`);
  try {
    await writer.begin();
    const more = { 'topic.prefix': prefix, 'table.include': 'keyed|plain', 'timestamp.delay.ms': DELAY_MS };
    await worker.rest.create(
      name,
      sourceConfig(db, { ...more, 'fetch.max.rows': '200', 'fetch.max.rows.auto': 'false' }),
    );
    let sent = 0;
    for (let kill = 1; kill <= kills; kill++) {
      sent = (await kafka.read(topics[kill % 2] ?? '', ({ length }) => length > sent, 60_000)).length;
      if (kill % 2 === 0) sent = 0;
      // The kill happens while past rows or new rows are being read.
      await delay(random() * (kill % 2 === 1 ? 60 : 1000));
      await worker.kill();
      print(`kill ${String(kill)}, at ${String(writer.rows)} rows`);
      await worker.start();
    }
    const rows = await writer.end();
    for (const topic of topics) await assertAllThere(kafka, topic, rows, once, print);
    await worker.rest.delete(`/connectors/${name}`);
  } catch (error) {
    print(worker.logTail());
    throw error;
  } finally {
    await writer.close();
  }
}

async function assertAllThere(
  kafka: KafkaTraffic,
  topic: string,
  rows: number,
  once: boolean,
  print: (line: string) => void,
): Promise<void> {
  const isolation = once ? { 'isolation.level': 'read_committed' } : {};
  const numbers = async () => (await kafka.all(topic, isolation)).map(({ value }) => numberOf(value));
  await until(async () => new Set(await numbers()).size >= rows, `${String(rows)} rows are in ${topic}`, {
    timeoutMs: 120_000,
    everyMs: 500,
  });
  // Surplus records would arrive during this time.
  await delay(1000);
  const found = await numbers();
  const written = (await kafka.all(topic)).length;
  print(`${topic}: ${String(rows)} rows, ${String(found.length)} records to be seen, ${String(written)} written`);
  const distinct = [...new Set(found)];
  assert.deepEqual(
    distinct.filter((n) => n < PAST_ROWS),
    Array.from({ length: PAST_ROWS }, (_, n) => n),
    'rows of the past are there in order',
  );
  assert.equal(distinct.length, rows);
  if (once) assert.equal(found.length, rows, 'each row is there once');
}

function numberOf(value: Buffer | null): number {
  const { data } = JSON.parse(value?.toString() ?? '') as { data: readonly { n: number }[] };
  return data[0]?.n ?? -1;
}

/** Inserts rows with the numbers 0, 1, 2 … into each table until it is stopped. */
class OverlappingWriter {
  readonly #quick: SqlClient;
  readonly #slow: SqlClient;
  #writing: Promise<void> | undefined;
  #isEnding = false;
  #rows = PAST_ROWS;

  constructor(db: TestDatabase) {
    this.#quick = new SqlClient(db);
    this.#slow = new SqlClient(db);
  }

  get rows(): number {
    return this.#rows;
  }

  async begin(): Promise<void> {
    for (const { table, key } of TABLES) {
      await this.#quick.run(
        `create table ${table} (ts timestamptz, n int8${key})`,
        `insert into ${table} select timestamptz '2026-01-01' + i * interval '1 ms', i from generate_series(0, ${String(PAST_ROWS - 1)}) i`,
      );
    }
    this.#writing = this.#write();
  }

  async end(): Promise<number> {
    this.#isEnding = true;
    await this.#writing;
    return this.#rows;
  }

  async close(): Promise<void> {
    await this.end().catch(() => undefined);
    await this.#quick.close();
    await this.#slow.close();
  }

  async #write(): Promise<void> {
    while (!this.#isEnding) {
      await this.#slow.run('begin');
      await this.#insert(this.#slow, 1);
      for (let step = 0; step < 8; step++) {
        await this.#insert(this.#quick, 10);
        await this.#slow.run('savepoint a');
        await this.#insert(this.#slow, 1);
        await this.#slow.run('release a');
        await delay(20);
      }
      await this.#slow.run('commit');
    }
  }

  async #insert(sql: SqlClient, count: number): Promise<void> {
    const last = this.#rows + count - 1;
    for (const { table, time } of TABLES) {
      await sql.run(
        `insert into ${table} select ${time}, i from generate_series(${String(this.#rows)}, ${String(last)}) i`,
      );
    }
    this.#rows += count;
  }
}
