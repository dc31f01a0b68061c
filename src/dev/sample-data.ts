import { hostname, loadavg } from 'node:os';
import { Backoff } from '../async/backoff.ts';
import { sleep } from '../async/sleep.ts';
import { ConnectError, firstCause, toError } from '../errors.ts';
import type { Admin, KafkaClient, ProducedRecord } from '../kafka/api.ts';
import type { Executor } from '../../plugins/database/index.ts';
import { ErrorCode } from '../kafka/errors/error-codes.ts';
import { isRetriable, KafkaError } from '../kafka/errors/kafka-errors.ts';
import type { Logger } from '../observe/logger.ts';
import { hostMetrics } from './host-metrics.ts';

const HOST_TOPIC = 'host-metrics';
const PROCESS_TOPIC = 'process-metrics';
/** Partitions of the sample topics, and of `meters`, the topic of the example in README.md. */
const SAMPLE_TOPICS = { [HOST_TOPIC]: 2, [PROCESS_TOPIC]: 2, meters: 1 };

/** Timeout of one call of the admin client. */
const API_TIMEOUT_MS = 15_000;
/** Maximum time for which the broker may be busy or fenced, as it is for some seconds after a restart. */
const TOPICS_LIMIT_MS = 60_000;

/** Time at the end for sent data to be acknowledged. */
const CLOSE_MS = 1000;

/** Creates the sample topics that are missing. Failures that may be temporary are retried for at most `limitMs`. */
export async function createSampleTopics(
  kafka: Pick<KafkaClient, 'admin'>,
  { limitMs = TOPICS_LIMIT_MS, signal }: { readonly limitMs?: number; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const deadline = Date.now() + limitMs;
  const pauses = new Backoff(200, 2000);
  const admin = kafka.admin({ 'default.api.timeout.ms': String(API_TIMEOUT_MS), 'request.timeout.ms': '5000' });
  try {
    for (;;) {
      try {
        await createMissing(admin);
        return;
      } catch (error) {
        const waitMs = pauses.nextMs();
        if (!mayPass(error)) throw error;
        if (Date.now() + waitMs > deadline) {
          throw new ConnectError(
            `The topics ${Object.keys(SAMPLE_TOPICS).join(', ')} could not be created within ${String(limitMs / 1000)} s: ` +
              firstCause(error).message,
            { cause: error },
          );
        }
        await sleep(waitMs, signal);
      }
    }
  } finally {
    await admin.close();
  }
}

async function createMissing(admin: Admin): Promise<void> {
  // Existing topics are not created again, because a cluster whose broker has just restarted rejects every creation.
  const existing = await admin.describeTopics(Object.keys(SAMPLE_TOPICS));
  for (const [name, partitions] of Object.entries(SAMPLE_TOPICS)) {
    if (existing.has(name)) continue;
    await admin.createTopic({ name, partitions, replicationFactor: 1, settings: {} });
  }
}

/**
 * Whether a retry may succeed. While the broker is fenced, even the replication factor 1 exceeds the number of brokers.
 */
function mayPass(error: unknown): boolean {
  return isRetriable(error) || (error instanceof KafkaError && error.code === ErrorCode.invalidReplicationFactor);
}

/**
 * Statements that create the tables of the host metrics. By default, a sink does not create tables for line protocol.
 */
export const HOST_TABLES = [
  table('host_cpu', ['usage_user float8', 'usage_system float8', 'usage_idle float8'], ['cpu']),
  table('host_memory', ['total int8', 'available int8', 'used int8', 'used_percent float8'], []),
  table('host_load', ['load1 float8', 'load5 float8', 'load15 float8'], []),
  table(
    'host_network',
    ['bytes_recv int8', 'bytes_sent int8', 'packets_recv int8', 'packets_sent int8'],
    ['interface'],
  ),
  table('host_peak', ['load1 float8', 'samples int4'], []),
];

function table(name: string, columns: readonly string[], tags: readonly string[]): string {
  const primary = ['host', ...tags];
  const definitions = [
    'k_timestamp timestamptz(3) not null',
    ...columns,
    ...primary.map((tag) => `${tag} varchar(64) not null`),
    `primary key (k_timestamp, ${primary.join(', ')})`,
  ];
  return [
    `create table if not exists ${name} (${definitions.join(', ')})`,
    ...primary.map((tag) => `comment on column ${name}.${tag} is 'sluice:primary-tag'`),
  ].join(';\n');
}

/**
 * Each row of `host_peak` covers a period of five seconds. It is updated in this period, and deleted five seconds after
 * it.
 */
const RECORD_PEAK = `INSERT INTO host_peak (k_timestamp, host, load1, samples)
  VALUES (to_timestamp(floor(extract(epoch FROM now()) / 5) * 5), $1, $2, 1)
  ON CONFLICT (k_timestamp, host) DO UPDATE
    SET load1 = greatest(host_peak.load1, EXCLUDED.load1), samples = host_peak.samples + 1`;
const DELETE_PEAKS = `DELETE FROM host_peak WHERE host = $1 AND k_timestamp < now() - interval '10 seconds'`;

/** The destinations of the sample data. */
export interface SampleTargets {
  readonly kafka: KafkaClient;
  readonly executor: Executor;
}

/**
 * Once per second, until `signal` aborts: produces the metrics of this host as line protocol and those of this process
 * as `json_db`, and updates the table `host_peak`. If the data of a second cannot be sent, this is logged, and
 * production continues with the next second.
 */
export async function produceSampleData(
  { kafka, executor }: SampleTargets,
  signal: AbortSignal,
  logger: Logger,
): Promise<void> {
  const producer = kafka.producer();
  // Records that wait for an unreachable broker must not delay the end.
  const end = () => void producer.close(CLOSE_MS).catch(() => undefined);
  signal.addEventListener('abort', end, { once: true });
  try {
    for await (const lines of hostMetrics(1000, signal)) {
      const records = [...lines.map((line) => record(HOST_TOPIC, line)), record(PROCESS_TOPIC, processMetrics())];
      const sent = await Promise.allSettled([producer.send(records), keepPeaks(executor, signal)]);
      if (signal.aborted) break;
      for (const each of sent) {
        if (each.status === 'fulfilled') continue;
        logger.warn(`Failed to send the sample data of this second: ${toError(each.reason).message}`);
      }
    }
  } finally {
    signal.removeEventListener('abort', end);
    await producer.close(CLOSE_MS);
  }
}

async function keepPeaks(executor: Executor, signal: AbortSignal): Promise<void> {
  const [load = 0] = loadavg();
  await executor.query(RECORD_PEAK, [hostname(), String(load)], { signal });
  await executor.query(DELETE_PEAKS, [hostname()], { signal });
}

function record(topic: string, value: string): ProducedRecord {
  return { topic, partition: null, key: null, value: Buffer.from(value), timestamp: null, headers: [] };
}

/** One row about this process, in the format that creates its table. */
function processMetrics(): string {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return JSON.stringify({
    table: 'process_metrics',
    columns: [
      { name: 'k_timestamp', type: 'TIMESTAMPTZ', length: 64 },
      { name: 'rss_bytes', type: 'INT8', length: 64 },
      { name: 'heap_bytes', type: 'INT8', length: 64 },
      { name: 'cpu_seconds', type: 'FLOAT8', length: 64 },
    ],
    tags: [{ name: 'host', type: 'VARCHAR', length: 64, primary: true, nullable: false }],
    data: [
      {
        k_timestamp: Date.now(),
        rss_bytes: rss,
        heap_bytes: heapUsed,
        cpu_seconds: (user + system) / 1e6,
        host: hostname(),
      },
    ],
  });
}
