import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { ConnectRest } from '../support/rest.ts';
import { ask } from './ask.ts';
import type { BenchContext } from './bench-context.ts';
import { median, rangeOf, rounded, type Range } from './figures.ts';
import { emptyTopic, idleSink, withConnectors } from './idle-connectors.ts';
import type { JavaPeer } from './java-peer.ts';
import { cpuSecondsOf, rssMbOf } from './process-usage.ts';

const CLIENTS = 4;
const IDLE_MS = 10_000;
const REQUESTS_MS = 5_000;
const PATH = '/connectors?expand=status&expand=info';

interface WorkerFigures {
  /** Milliseconds from the start of the process to the first 200 of `/health`. */
  readonly start_ms: number;
  readonly start_ms_range: Range;
  readonly idle_rss_mb: number;
  /** Percent of one core. */
  readonly idle_cpu_percent: number;
  readonly rss_mb_with_50_connectors: number;
  readonly cpu_percent_with_50_connectors: number;
  readonly requests_per_s: number;
  readonly cpu_ms_per_request: number;
}

/**
 * `worker`: the CPU and memory of the worker, alone and with 50 sinks of an empty topic, and the rate of requests for
 * all their states. With peers, the same for the Java worker with 50 Debezium JDBC sinks.
 */
export async function workerCost(context: BenchContext): Promise<object> {
  const startMs: number[] = [];
  for (let run = 1; run < context.runs; run++) {
    const worker = await context.startWorker();
    startMs.push(worker.startMs);
    await worker.stop();
  }
  const worker = await context.startWorker();
  startMs.push(worker.startMs);
  const topic = await emptyTopic(context.services);
  try {
    const config = idleSink(context.services, topic.name);
    const figures: WorkerFigures = {
      start_ms: Math.round(median(startMs)),
      start_ms_range: rangeOf(startMs),
      ...(await costOf(worker.rest, worker.pid, config)),
    };
    const peer = await context.peer();
    return peer === undefined ? figures : { ...figures, ...(await javaCost(context, peer, topic.name)) };
  } finally {
    await worker.stop();
    await topic.delete();
  }
}

async function javaCost({ services }: BenchContext, peer: JavaPeer, topic: string): Promise<Record<string, number>> {
  const { host, port, user, password, database } = services.database;
  const figures = await costOf(new ConnectRest(peer.url), peer.pid, {
    'connector.class': 'io.debezium.connector.jdbc.JdbcSinkConnector',
    'tasks.max': '1',
    topics: topic,
    'connection.url': `jdbc:postgresql://${host}:${String(port)}/${database}`,
    'connection.username': user,
    'connection.password': password,
    // The default of the pool is 5 connections, which would add up to 250.
    'connection.pool.min_size': '1',
    'connection.pool.max_size': '2',
  });
  const all = { start_ms: peer.started.start_ms, ...figures, idle_rss_mb: peer.started.idle_rss_mb };
  return Object.fromEntries(Object.entries(all).map(([name, figure]) => [`java_${name}`, figure]));
}

async function costOf(
  rest: ConnectRest,
  pid: number,
  config: Readonly<Record<string, string>>,
): Promise<Omit<WorkerFigures, 'start_ms' | 'start_ms_range'>> {
  const idle = await idleCost(pid);
  return withConnectors(rest, config, async () => {
    const loaded = await idleCost(pid);
    return {
      idle_rss_mb: idle.rssMb,
      idle_cpu_percent: idle.cpuPercent,
      rss_mb_with_50_connectors: loaded.rssMb,
      cpu_percent_with_50_connectors: loaded.cpuPercent,
      ...(await requestRate(rest.url, pid)),
    };
  });
}

async function idleCost(pid: number): Promise<{ rssMb: number; cpuPercent: number }> {
  const before = await cpuSecondsOf(pid);
  await delay(IDLE_MS);
  const cpuPercent = rounded((((await cpuSecondsOf(pid)) - before) * 100_000) / IDLE_MS);
  return { rssMb: await rssMbOf(pid), cpuPercent };
}

async function requestRate(url: string, pid: number): Promise<{ requests_per_s: number; cpu_ms_per_request: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const during = async (ms: number): Promise<number> => {
    let count = 0;
    const until = performance.now() + ms;
    const client = async (): Promise<void> => {
      for (; performance.now() < until; count++) await ask(agent, `${url}${PATH}`);
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return count;
  };
  try {
    await during(REQUESTS_MS / 5);
    const [before, began] = [await cpuSecondsOf(pid), performance.now()];
    const count = await during(REQUESTS_MS);
    const cpuMs = ((await cpuSecondsOf(pid)) - before) * 1000;
    return {
      requests_per_s: Math.round((count * 1000) / (performance.now() - began)),
      cpu_ms_per_request: rounded(cpuMs / count),
    };
  } finally {
    agent.destroy();
  }
}
