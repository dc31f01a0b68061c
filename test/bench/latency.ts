import { setTimeout as delay } from 'node:timers/promises';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import type { Producer } from '../../src/kafka/api.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { sinkConfig } from '../support/connectors.ts';
import { until } from '../support/until.ts';
import type { BenchContext } from './bench-context.ts';
import { median, rounded } from './figures.ts';
import { RowTopic } from './row-topic.ts';
import { envelope, envelopeAt } from './rows.ts';
import { structOptions } from './sinks.ts';
import { SteadyLoad } from './steady-load.ts';
import { keyedTable } from './tables.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

const RATES = [100, 1000, 5000];
const TABLE = 'bench_latency';
const FIRST_ROWS_MS = 100;
const START_MS = 5_000;

interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

/**
 * `latency`: the time from producing a row to its commit, at constant rates, with the default settings of the sink,
 * upserts and 2 tasks.
 */
export async function latency(context: BenchContext): Promise<Readonly<Record<string, number>>> {
  const { services } = context;
  const worker = await context.startWorker();
  const producer = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger).producer();
  await producer.connect();
  try {
    const figures: Record<string, number> = {};
    for (const rate of RATES) {
      const [start, ...runs] = await latenciesAt(rate, context, worker, producer);
      for (const share of ['p50', 'p99', 'p999', 'max'] as const) {
        figures[`at_${String(rate)}_${share}_ms`] = rounded(median(runs.map((run) => run[share])));
      }
      figures[`at_${String(rate)}_p99_ms_of_start`] = rounded(start?.p99 ?? NaN);
    }
    return figures;
  } finally {
    await producer.close();
    await worker.stop();
    await services.dropTable(TABLE);
  }
}

/** Returns the latencies of a new connector, first for its first seconds and then for each run. */
async function latenciesAt(
  rate: number,
  { services, seconds, runs, overrides }: BenchContext,
  { rest }: WorkerUnderTest,
  producer: Producer,
): Promise<readonly Latency[]> {
  await services.createTable(TABLE, keyedTable);
  const topic = await RowTopic.produce(services, 'bench-latency', 0, envelope);
  const config = { topics: topic.name, 'tasks.max': '2', ...structOptions(TABLE, 'upsert'), ...overrides };
  await rest.create(topic.name, sinkConfig({ ...services.database, url: '' }, config));
  const load = async (ms: number, firstId: number): Promise<number> => {
    const steady = new SteadyLoad(
      producer,
      (id) => topic.record(id, (at) => envelopeAt(at, Date.now())),
      rate,
      firstId,
    );
    await delay(ms);
    const nextId = await steady.stop();
    const stored = async () => (await services.number(`select count(*) from ${TABLE}`)) === nextId;
    await until(stored, `${String(nextId)} rows`, { everyMs: 200 });
    return nextId;
  };
  try {
    await rest.untilState(topic.name, 'RUNNING', 2);
    // The first rows wait until the consumers get their partitions.
    let nextId = await load(FIRST_ROWS_MS, 0);
    const latencies: Latency[] = [];
    for (const ms of [START_MS, ...Array.from({ length: runs }, () => seconds * 1000)]) {
      const firstId = nextId;
      nextId = await load(ms, firstId);
      latencies.push(await latencyFrom(firstId, services));
    }
    return latencies;
  } finally {
    await rest.delete(`/connectors/${topic.name}`);
    await topic.delete();
  }
}

/**
 * Computes the latencies of the rows from this id on, from the commit times of the database (`track_commit_timestamp`).
 */
async function latencyFrom(id: number, services: BenchContext['services']): Promise<Latency> {
  const { rows } = await services.query(
    `select unnest(percentile_disc(array[0.5, 0.99, 0.999, 1]) within group (order by ms))
      from (select extract(epoch from pg_xact_commit_timestamp(xmin) - ts) * 1000 ms from ${TABLE} where id >= ${String(id)}) l`,
  );
  const [p50 = NaN, p99 = NaN, p999 = NaN, max = NaN] = rows.map(([ms]) => Number(ms));
  return { p50, p99, p999, max };
}
