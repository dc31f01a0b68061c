import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sourceConfig } from './connectors.ts';
import { KafkaTraffic } from './kafka-traffic.ts';
import { uniqueName, type TestDatabase } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import type { WorkerProcess } from './worker-process.ts';

/** Rows that are there at first, with times of the past. */
const PAST_ROWS = 5_000;
/** One table whose rows a key tells apart, and one without a key and with many rows of one time. */
const TABLES = [
  { table: 'keyed', key: ', primary key (ts, n)', time: 'clock_timestamp()' },
  { table: 'plain', key: '', time: `date_trunc('second', clock_timestamp())` },
] as const;
/** Longer than a worker is down, on a slow machine too. */
const DELAY_MS = '60000';

export interface SourceKills {
  /** With `exactly.once.source.support` or without. */
  readonly worker: WorkerProcess;
  readonly db: TestDatabase;
  readonly kills: number;
  /** Whether each row must be there once, for who reads what is committed; else at least once. */
  readonly once: boolean;
  /** Between 0 and 1. */
  readonly random?: () => number;
  readonly print?: (line: string) => void;
}

/**
 * Kills a worker with -9 again and again while its source reads tables into which rows are written, by transactions that overlap
 * and by subtransactions. Rejects unless each row then is in its topic, and those of the past in order.
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
      // In the middle of the past, or of what is written now.
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
  // More would come now.
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

/** Rows with numbers 0, 1, 2 … in each table until it is ended. */
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
