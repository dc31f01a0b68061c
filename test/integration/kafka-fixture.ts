import { pino } from 'pino';
import type {
  ClientProperties,
  ConsumedRecord,
  Consumer,
  KafkaClient,
  ProducedRecord,
  RebalanceListener,
} from '../../src/kafka/api.ts';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { broker, uniqueName } from '../support/services.ts';
import { PATIENCE } from '../support/until.ts';

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A logger whose lines a test may look at. */
export function recordingLogger(): { readonly lines: LogLine[]; readonly logger: pino.Logger } {
  const lines: LogLine[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as LogLine);
  return { lines, logger: pino({ level: 'debug' }, { write }) };
}

/** A client of the shared broker. */
export async function sharedClient(properties: ClientProperties = {}): Promise<KafkaClient> {
  const { bootstrapServers } = await broker();
  return createKafkaClient({ 'bootstrap.servers': bootstrapServers, ...properties }, recordingLogger().logger);
}

/** A client that sends heartbeats often, and the lines of its log. */
export function loggedClient(
  bootstrapServers: string,
  properties: ClientProperties = {},
): { readonly client: KafkaClient; readonly lines: LogLine[] } {
  const { lines, logger } = recordingLogger();
  const common = { 'bootstrap.servers': bootstrapServers, 'heartbeat.interval.ms': '200', ...properties };
  return { client: createKafkaClient(common, logger), lines };
}

export async function newTopic(
  client: KafkaClient,
  partitions = 1,
  settings: Record<string, string> = {},
): Promise<string> {
  const name = uniqueName('kafka-room');
  const admin = client.admin();
  await admin.createTopic({ name, partitions, replicationFactor: 1, settings });
  await admin.close();
  return name;
}

export function record(topic: string, value: string | null, over: Partial<ProducedRecord> = {}): ProducedRecord {
  const bytes = value === null ? null : Buffer.from(value);
  return { topic, partition: null, key: null, value: bytes, timestamp: null, headers: [], ...over };
}

/** `count` numbered records, dealt out over the partitions in turn. */
export async function produceNumbers(
  client: KafkaClient,
  topic: string,
  { from = 0, count, partitions = 1 }: { from?: number; count: number; partitions?: number },
): Promise<void> {
  const producer = client.producer();
  try {
    const numbers = Array.from({ length: count }, (_none, index) => from + index);
    await producer.send(numbers.map((n) => record(topic, String(n), { partition: n % partitions })));
  } finally {
    await producer.close();
  }
}

/** A listener that records its calls; each callback may be replaced. */
export function rebalanceLog(over: Partial<RebalanceListener> = {}): RebalanceListener & { readonly events: string[] } {
  const events: string[] = [];
  const note =
    (event: 'onRevoked' | 'onLost' | 'onAssigned'): RebalanceListener['onRevoked'] =>
    async (partitions) => {
      const names = partitions.map(({ partition }) => partition).sort((a, b) => a - b);
      events.push(`${event} ${names.join(',')}`);
      await over[event]?.(partitions);
    };
  return { events, onRevoked: note('onRevoked'), onLost: note('onLost'), onAssigned: note('onAssigned') };
}

/** Polls until the records satisfy the condition, or fails after `timeoutMs`. */
export async function pollUntil(
  consumer: Consumer,
  enough: (records: readonly ConsumedRecord[]) => boolean,
  timeoutMs = 15_000,
): Promise<ConsumedRecord[]> {
  const records: ConsumedRecord[] = [];
  const deadline = Date.now() + timeoutMs * PATIENCE;
  while (!enough(records)) {
    if (Date.now() > deadline) throw new Error(`gave up after ${String(records.length)} records`);
    records.push(...(await consumer.poll(200)));
  }
  return records;
}

export function values(records: readonly ConsumedRecord[]): (string | null)[] {
  return records.map(({ value }) => value?.toString() ?? null);
}

export function partitionsOf(topic: string, count: number): { topic: string; partition: number }[] {
  return Array.from({ length: count }, (_none, partition) => ({ topic, partition }));
}
