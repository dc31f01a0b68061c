import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { sinkConfig } from './connectors.ts';
import { KafkaTraffic, type TestMessage } from './kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from './services.ts';
import { SqlClient } from './sql-client.ts';
import { until } from './until.ts';
import { WorkerProcess } from './worker-process.ts';

const START_MS = 1_700_000_000_000;
const PARTITIONS = 4;
const COLUMNS = 'k_timestamp timestamptz(3) not null, id int8, value float8, category varchar(64) not null';

/** With the default session timeout, the group would wait 45 s for killed members. */
export const SHORT_SESSION = {
  'consumer.override.session.timeout.ms': '6000',
  'consumer.override.heartbeat.interval.ms': '1000',
};

/** Returns one row of line protocol for the table `table`. Ids are distributed to the partitions in turn. */
export function line(table: string, id: number, partitions = PARTITIONS): TestMessage {
  const value = `${table},category=c${String(id % 100)} id=${String(id)}i,value=${String(id / 4)} ${String(START_MS + id)}`;
  return { value, partition: id % partitions };
}

function json(id: number): TestMessage {
  const row = {
    k_timestamp: new Date(START_MS + id).toISOString(),
    id,
    value: id / 4,
    category: `c${String(id % 100)}`,
  };
  return { value: JSON.stringify(row), partition: id % PARTITIONS };
}

/** Creates a table for `line`. Without a key, duplicate rows remain visible. */
export async function createTable(sql: SqlClient, table: string, isKeyed: boolean, hasTag = true): Promise<void> {
  await sql.run(`create table ${table} (${COLUMNS}${isKeyed ? ', primary key (k_timestamp, category)' : ''})`);
  if (hasTag) await sql.run(`comment on column ${table}.category is 'sluice:primary-tag'`);
}

/** Asserts that the table contains each id from 0 once, with its time and value. */
export async function assertEachOnce(sql: SqlClient, table: string, rows: number): Promise<void> {
  const check = await sql.rows(`select count(*), count(distinct id), min(id), max(id),
    count(*) filter (where value = id / 4.0 and k_timestamp = timestamptz 'epoch' + (${String(START_MS)} + id) * interval '1 ms')
    from ${table}`);
  const all = String(rows);
  assert.deepEqual(check, [[all, all, '0', String(rows - 1), all]], `rows in ${table}`);
}

/** A connector whose worker is killed. */
interface Victim {
  readonly table: string;
  readonly isKeyed: boolean;
  readonly message: (id: number) => TestMessage;
  readonly config: Readonly<Record<string, string>>;
}

const LINES = { 'protocol.type': 'line_lp', 'timestamp.precision': 'ms' };
const VICTIMS: readonly Victim[] = [
  { table: 'keyed', isKeyed: true, message: (id) => line('keyed', id), config: LINES },
  {
    table: 'unkeyed',
    isKeyed: false,
    message: (id) => line('unkeyed', id),
    config: { ...LINES, delivery: 'exactly-once' },
  },
  {
    table: 'structs',
    isKeyed: false,
    message: json,
    config: {
      'protocol.type': 'struct',
      'table.name.format': 'structs',
      delivery: 'exactly-once',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
    },
  },
];

export interface KillOptions {
  readonly kills: number;
  /** Returns a number from 0 to 1, without 1. */
  readonly random: () => number;
  readonly print?: (line: string) => void;
}

/**
 * Repeatedly kills a worker by SIGKILL while rows flow through sinks: at-least-once into a table with a key, and
 * exactly-once into tables without one. Rejects unless each table then contains each row once.
 */
export async function killSinks({ kills, random, print = () => undefined }: KillOptions): Promise<void> {
  const [db, kafka, worker] = await Promise.all([database('kills'), KafkaTraffic.shared(), WorkerProcess.start()]);
  const sql = new SqlClient(db);
  const stopProducing = new AbortController();
  try {
    const topics: string[] = [];
    for (const victim of VICTIMS) topics.push(await startVictim(victim, { db, sql, kafka, worker }));
    const producing = produce(kafka, topics, stopProducing.signal);
    for (let kill = 1; kill <= kills; kill++) {
      await everyTableGrows(sql);
      await delay(random() * 1500);
      await worker.kill();
      print(`kill ${String(kill)}, at ${(await counts(sql)).join(', ')} rows`);
      await worker.start();
    }
    await everyTableGrows(sql);
    stopProducing.abort();
    const rows = await producing;
    await until(async () => (await counts(sql)).every((count) => count >= rows), `${String(rows)} rows arrived`, {
      timeoutMs: 120_000,
    });
    for (const [index, { table }] of VICTIMS.entries()) {
      const group = `connect-${topics[index] ?? ''}`;
      await until(async () => (await kafka.committed(group)) === rows, `the lag of ${table} is 0`);
      await assertEachOnce(sql, table, rows);
    }
    print(`${String(rows)} rows in each of ${VICTIMS.map(({ table }) => table).join(', ')}, each once`);
  } catch (error) {
    print(worker.logTail());
    throw error;
  } finally {
    stopProducing.abort();
    await worker.discard();
    await sql.close();
  }
}

/** Creates the table, topic and connector. The topic has the name of the connector. */
async function startVictim(
  { table, isKeyed, config }: Victim,
  { db, sql, kafka, worker }: { db: TestDatabase; sql: SqlClient; kafka: KafkaTraffic; worker: WorkerProcess },
): Promise<string> {
  const name = uniqueName(table);
  await createTable(sql, table, isKeyed, table !== 'structs');
  await kafka.createTopic(name, PARTITIONS);
  const more = {
    topics: name,
    'tasks.max': '2',
    'batch.size': '200',
    'batch.size.auto': 'false',
    ...SHORT_SESSION,
    ...config,
  };
  await worker.rest.create(name, sinkConfig(db, more));
  return name;
}

/**
 * Produces some thousand rows per second to each topic until the signal aborts. Resolves with the number of rows in
 * each topic.
 */
async function produce(kafka: KafkaTraffic, topics: readonly string[], signal: AbortSignal): Promise<number> {
  const step = 400;
  let id = 0;
  for (; !signal.aborted; id += step) {
    const ids = Array.from({ length: step }, (_, index) => id + index);
    await Promise.all(VICTIMS.map(({ message }, index) => kafka.produce(topics[index] ?? '', ids.map(message))));
    await delay(150, undefined, { signal }).catch(() => undefined);
  }
  return id;
}

async function counts(sql: SqlClient): Promise<number[]> {
  const list: number[] = [];
  for (const { table } of VICTIMS) list.push(await sql.number(`select count(*) from ${table}`));
  return list;
}

async function everyTableGrows(sql: SqlClient): Promise<void> {
  const before = await counts(sql);
  const grow = async () => (await counts(sql)).every((count, index) => count > (before[index] ?? 0));
  await until(grow, 'rows flow into every table', { timeoutMs: 60_000 });
}
