import { setTimeout as delay } from 'node:timers/promises';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sourceConfig } from '../support/connectors.ts';
import { until } from '../support/until.ts';
import type { BenchContext } from './bench-context.ts';
import { median, rounded } from './figures.ts';

const TABLES = 500;
const IDLE_MS = 20_000;
const SAMPLES = 10;
const SCHEMA = 'bench_idle';

interface IdleFigures {
  readonly tables: number;
  /** Percent of one core, with the default `poll.interval.ms` of 5 s. */
  readonly idle_cpu_percent: number;
  readonly idle_rss_mb: number;
  /** Median time from the commit of a row to its record in the topic. */
  readonly poll_1000_ms_median: number;
  readonly poll_1000_ms_max: number;
  readonly notify_ms_median: number;
  readonly notify_ms_max: number;
}

/**
 * `source-idle`: the CPU use for 500 tables without new rows, and the time until a new row is in its topic, by polling
 * and with `notify=true`.
 */
export async function sourceIdle(context: BenchContext): Promise<IdleFigures> {
  const { services } = context;
  const worker = await context.startWorker();
  await services.query(`drop schema if exists ${SCHEMA} cascade`);
  try {
    await services.query(`create schema ${SCHEMA}`);
    await services.query(
      `do $$ begin for i in 1..${String(TABLES)} loop execute format('create table ${SCHEMA}.t_%s (ts timestamptz primary key, n int8)', i); end loop; end $$`,
    );
    const idle = await withSource(context, worker.rest, {}, async () => {
      await delay(5_000);
      const before = await worker.cpuSeconds();
      await delay(IDLE_MS);
      return rounded((((await worker.cpuSeconds()) - before) * 100_000) / IDLE_MS);
    });
    const idleRssMb = await worker.rssMb();
    const polled = await latencies(context, worker.rest, { 'poll.interval.ms': '1000' });
    const notified = await latencies(context, worker.rest, { 'poll.interval.ms': '60000', notify: 'true' });
    return {
      tables: TABLES,
      idle_cpu_percent: idle,
      idle_rss_mb: idleRssMb,
      poll_1000_ms_median: rounded(median(polled)),
      poll_1000_ms_max: rounded(Math.max(...polled)),
      notify_ms_median: rounded(median(notified)),
      notify_ms_max: rounded(Math.max(...notified)),
    };
  } finally {
    await worker.stop();
    await services.query(`drop schema if exists ${SCHEMA} cascade`);
  }
}

type Rest = Awaited<ReturnType<BenchContext['startWorker']>>['rest'];

/** Runs `work` while a source of all tables runs. `topic` is the topic of its records. */
async function withSource<T>(
  { services }: BenchContext,
  rest: Rest,
  more: Readonly<Record<string, string>>,
  work: (topic: string) => Promise<T>,
): Promise<T> {
  const name = `bench-idle-${String(Date.now())}`;
  const admin = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger).admin();
  const topic = `${name}-json_db`;
  await admin.createTopic({ name: topic, partitions: 1, replicationFactor: 1, settings: {} });
  const tables = { 'table.include': `${SCHEMA}\\..*`, 'topic.prefix': name };
  const together = { 'topic.ignore.db': 'true', 'topic.per.stable': 'false', 'poll.interval.ms': '5000' };
  await rest.create(name, sourceConfig({ ...services.database, url: '' }, { ...tables, ...together, ...more }));
  try {
    await rest.untilState(name, 'RUNNING', 1, { timeoutMs: 60_000 });
    return await work(topic);
  } finally {
    await rest.delete(`/connectors/${name}`);
    await admin.deleteTopics([topic]);
    await admin.close();
  }
}

async function latencies(context: BenchContext, rest: Rest, more: Readonly<Record<string, string>>): Promise<number[]> {
  const { services } = context;
  return withSource(context, rest, more, async (topic) => {
    const consumer = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger).consumer({
      'auto.offset.reset': 'earliest',
      'fetch.max.wait.ms': '10',
    });
    consumer.assign([{ topic, partition: 0 }]);
    let rows = 0;
    const untilMore = () => until(async () => (await consumer.poll(20)).length > 0, 'a row', { everyMs: 1 });
    const insert = () =>
      services.query(
        `insert into ${SCHEMA}.t_${String(1 + (++rows % TABLES))} values (clock_timestamp(), ${String(rows)})`,
      );
    const taken: number[] = [];
    try {
      // The source first handles existing rows and creates the triggers for `notify`.
      await delay(3_000);
      while ((await consumer.poll(200)).length > 0);
      await insert();
      await untilMore();
      for (let sample = 0; sample < SAMPLES; sample++) {
        await delay(137 * (sample % 7));
        const startedAt = performance.now();
        await insert();
        await untilMore();
        taken.push(performance.now() - startedAt);
      }
    } finally {
      await consumer.close(1000);
    }
    return taken;
  });
}
