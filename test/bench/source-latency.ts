import { setTimeout as delay } from 'node:timers/promises';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sourceConfig } from '../support/connectors.ts';
import { until } from '../support/until.ts';
import type { BenchContext } from './bench-context.ts';
import { median, percentile, rounded } from './figures.ts';
import { refuseStrangers } from './source-tables.ts';

const PER_SECOND = 100;
const TABLE = 'bench_source_latency';
const START_MS = 5_000;
const STEP_MS = 2;

/**
 * `source-latency`: the time from the commit of a row (`track_commit_timestamp`) until the broker appends its record
 * (`LogAppendTime`, in whole milliseconds), with 100 rows per second, one row per transaction, and `notify=true`.
 */
export async function sourceLatency(context: BenchContext): Promise<Readonly<Record<string, number>>> {
  const { services, seconds, runs, overrides } = context;
  await refuseStrangers(context, TABLE);
  const worker = await context.startWorker();
  const client = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger);
  const admin = client.admin();
  const name = `bench-notify-${String(Date.now())}`;
  const topic = [name, services.database.database, TABLE, 'json_db'].join('-');
  try {
    await services.createTable(TABLE, {
      columns: 'ts timestamptz not null default now(), id int8, value float8, primary key (ts, id)',
      comments: {},
    });
    const settings = { 'message.timestamp.type': 'LogAppendTime' };
    await admin.createTopic({ name: topic, partitions: 1, replicationFactor: 1, settings });
    const config = { 'topic.prefix': name, notify: 'true', 'poll.interval.ms': '5000', ...overrides };
    await worker.rest.create(name, sourceConfig({ ...services.database, url: '' }, config));
    await worker.rest.untilState(name, 'RUNNING', 1);
    const trigger = `select count(*) from pg_trigger where tgname = 'sluice_notify'`;
    await until(async () => (await services.number(trigger)) > 0, 'the trigger is there', { everyMs: 50 });
    let nextId = 0;
    const appended = new Map<number, number>();
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
    consumer.assign([{ topic, partition: 0 }]);
    const figures: { p50: number; p99: number; max: number }[] = [];
    for (const ms of [START_MS, ...Array.from({ length: runs }, () => seconds * 1000)]) {
      const firstId = nextId;
      nextId = await insertFor(ms, firstId, context);
      while (appended.size < nextId) {
        for (const { value, timestamp } of await consumer.poll(1000)) {
          const id = Number(/"id":(\d+)/.exec(String(value))?.[1]);
          if (!appended.has(id)) appended.set(id, timestamp);
        }
      }
      figures.push(await latencies(firstId, appended, context));
    }
    await consumer.close(1000);
    const [, ...counted] = figures;
    return {
      notify_p50_ms: rounded(median(counted.map(({ p50 }) => p50))),
      notify_p99_ms: rounded(median(counted.map(({ p99 }) => p99))),
      notify_max_ms: rounded(median(counted.map(({ max }) => max))),
      peak_rss_mb: await worker.peakRssMb(),
    };
  } finally {
    await worker.stop();
    await admin.deleteTopics([topic]);
    await admin.close();
    await services.dropTable(TABLE);
  }
}

/** Inserts rows. Resolves with the next id when all rows are inserted. */
async function insertFor(ms: number, firstId: number, { services }: BenchContext): Promise<number> {
  const began = performance.now();
  const inserting: Promise<unknown>[] = [];
  while (performance.now() - began < ms) {
    const due = Math.floor(((performance.now() - began) * PER_SECOND) / 1000);
    while (inserting.length < due) {
      const id = String(firstId + inserting.length);
      inserting.push(services.query(`insert into ${TABLE} (id, value) values (${id}, ${id}.5)`));
    }
    await delay(STEP_MS);
  }
  await Promise.all(inserting);
  return firstId + inserting.length;
}

async function latencies(firstId: number, appended: ReadonlyMap<number, number>, { services }: BenchContext) {
  const { rows } = await services.query(
    `select id, extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 from ${TABLE} where id >= ${String(firstId)}`,
  );
  const all = rows.map(([id, committedMs]) => (appended.get(Number(id)) ?? NaN) - Number(committedMs));
  return { p50: percentile(all, 0.5), p99: percentile(all, 0.99), max: percentile(all, 1) };
}
