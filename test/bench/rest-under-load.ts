import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from './ask.ts';
import type { BenchContext } from './bench-context.ts';
import { median, percentile, rounded } from './figures.ts';
import { measureRuns } from './measured-run.ts';
import { RowTopic } from './row-topic.ts';
import { envelope } from './rows.ts';
import { sinkOnce } from './sink-run.ts';
import { BATCHES, structOptions } from './sinks.ts';
import { keyedTable } from './tables.ts';

const TABLE = 'bench_rest';
const PATH = '/connectors?expand=status';
const PAUSE_MS = 10;
const IDLE_MS = 3_000;

interface RestFigures {
  readonly requests: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
  /** The latency of the same worker before it has any connector. */
  readonly idle_p50_ms: number;
  readonly idle_p99_ms: number;
  readonly rows_per_s: number;
}

/** `rest-under-load`: the response time of status requests while a sink processes a backlog. */
export async function restUnderLoad(half: BenchContext): Promise<RestFigures> {
  const context = { ...half, rows: 2 * half.rows };
  const { services, rows } = context;
  const worker = await context.startWorker();
  const topic = await RowTopic.produce(services, 'bench-rest', rows, envelope);
  const job = { table: TABLE, options: { ...BATCHES, ...structOptions(TABLE, 'upsert') } };
  try {
    const idle = await answersDuring(worker.rest.url, () => delay(IDLE_MS));
    const answers: Answer[][] = [];
    const runs = await measureRuns(
      context,
      worker,
      () => services.createTable(TABLE, keyedTable),
      async () => {
        const { result, answers: all } = await answersDuring(worker.rest.url, () =>
          sinkOnce(context, worker, topic.name, job),
        );
        answers.push(all.filter(({ askedMs }) => askedMs >= result.fromMs && askedMs <= result.toMs));
        return result;
      },
    );
    const times = answers.slice(1).flatMap((run) => run.map(({ ms }) => ms));
    const idleTimes = idle.answers.map(({ ms }) => ms);
    return {
      requests: times.length,
      p50_ms: rounded(percentile(times, 0.5)),
      p99_ms: rounded(percentile(times, 0.99)),
      max_ms: rounded(Math.max(...times)),
      idle_p50_ms: rounded(percentile(idleTimes, 0.5)),
      idle_p99_ms: rounded(percentile(idleTimes, 0.99)),
      rows_per_s: Math.round(median(runs.map(({ rowsPerS }) => rowsPerS))),
    };
  } finally {
    await worker.stop();
    await topic.delete();
    await services.dropTable(TABLE);
  }
}

interface Answer {
  readonly askedMs: number;
  readonly ms: number;
}

/** Sends one request after the other while `work` runs. */
async function answersDuring<T>(url: string, work: () => Promise<T>): Promise<{ result: T; answers: Answer[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers: Answer[] = [];
  let working = true;
  const asking = (async () => {
    while (working) {
      const askedMs = performance.now();
      await ask(agent, `${url}${PATH}`);
      answers.push({ askedMs, ms: performance.now() - askedMs });
      await delay(PAUSE_MS);
    }
  })();
  try {
    const result = await work();
    working = false;
    await asking;
    return { result, answers };
  } finally {
    working = false;
    agent.destroy();
  }
}
