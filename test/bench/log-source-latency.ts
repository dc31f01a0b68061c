import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import type { BenchContext } from './bench-context.ts';
import { median, percentile, rounded } from './figures.ts';
import { closeLog, LogReader, openLog, rowsFrom } from './log-source.ts';

const RATES = [1_000, 5_000];
const ROWS_PER_TRANSACTION = 10;
const START_MS = 3_000;
const STEP_MS = 2;
const WRITERS = 4;

/**
 * `log-source-latency`: the time from the commit of a row (`track_commit_timestamp`) until `poll` of a consumer returns
 * it. The consumer reads committed records only; transactions have ten rows. `--worker
 * exactly.once.source.support=enabled` measures exactly-once delivery.
 */
export async function logSourceLatency(context: BenchContext): Promise<Readonly<Record<string, number>>> {
  const { services, seconds, runs, overrides } = context;
  const worker = await context.startWorker();
  await openLog(context);
  const reader = await LogReader.running(context, worker.rest, 'sluice', overrides);
  const client = createKafkaClient({ 'bootstrap.servers': services.bootstrapServers }, silentLogger);
  const consumer = client.consumer({ 'auto.offset.reset': 'earliest', 'isolation.level': 'read_committed' });
  consumer.assign([{ topic: reader.topic, partition: 0 }]);
  const writers = await Promise.all(Array.from({ length: WRITERS }, () => connected(context)));
  try {
    const figures: Record<string, number> = {};
    let nextId = 0;
    for (const rate of RATES) {
      const all: { p50: number; p99: number; max: number }[] = [];
      for (const ms of [START_MS, ...Array.from({ length: runs }, () => seconds * 1000)]) {
        const firstId = nextId;
        let isWriting = true;
        const seen = new Map<number, number>();
        const reading = (async () => {
          while (isWriting || seen.size < nextId - firstId) {
            for (const { value } of await consumer.poll(100)) {
              const id = Number(/"id":(\d+)/.exec(String(value))?.[1]);
              if (!seen.has(id)) seen.set(id, Date.now());
            }
          }
        })();
        nextId = await write(writers, rate, ms, firstId);
        isWriting = false;
        await reading;
        const { rows } = await services.query(
          `select id, extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000 from bench_log where id >= ${String(firstId)}`,
        );
        const times = rows.map(([id, committedMs]) => (seen.get(Number(id)) ?? NaN) - Number(committedMs));
        all.push({ p50: percentile(times, 0.5), p99: percentile(times, 0.99), max: percentile(times, 1) });
      }
      const [, ...counted] = all;
      figures[`at_${String(rate)}_p50_ms`] = rounded(median(counted.map(({ p50 }) => p50)));
      figures[`at_${String(rate)}_p99_ms`] = rounded(median(counted.map(({ p99 }) => p99)));
      figures[`at_${String(rate)}_max_ms`] = rounded(median(counted.map(({ max }) => max)));
    }
    return { ...figures, peak_rss_mb: await worker.peakRssMb() };
  } finally {
    await consumer.close(1000);
    await Promise.all(writers.map((writer) => writer.end()));
    await reader.end();
    await worker.stop();
    await closeLog(context);
  }
}

async function connected({ services }: BenchContext): Promise<pg.Client> {
  const client = new pg.Client(services.database);
  await client.connect();
  return client;
}

/** Writes rows at a rate. Resolves with the next id when all rows are committed. */
async function write(writers: readonly pg.Client[], rate: number, ms: number, firstId: number): Promise<number> {
  const began = performance.now();
  const writing: Promise<unknown>[] = [];
  while (performance.now() - began < ms) {
    const due = Math.floor(((performance.now() - began) * rate) / 1000 / ROWS_PER_TRANSACTION);
    while (writing.length < due) {
      const id = firstId + writing.length * ROWS_PER_TRANSACTION;
      const writer = writers[writing.length % writers.length];
      if (writer !== undefined)
        writing.push(writer.query(`insert into bench_log ${rowsFrom(id, ROWS_PER_TRANSACTION)}`));
    }
    await delay(STEP_MS);
  }
  await Promise.all(writing);
  return firstId + writing.length * ROWS_PER_TRANSACTION;
}
