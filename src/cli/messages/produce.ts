import { open } from 'node:fs/promises';
import { ConfigError, toError } from '../../errors.ts';
import type { KafkaClient, ProducedRecord } from '../../kafka/api.ts';
import { connectTo, type ClusterChoice } from './connect.ts';
import { arrivingLines } from './lines.ts';

export interface ProduceOptions {
  readonly topic: string;
  /** Absent or `-`: standard input. */
  readonly file: string | undefined;
  /** Key of all messages; `undefined`: the messages have no key. */
  readonly key: string | undefined;
  /** Whether to create the topic, with the broker's defaults, if it is missing. */
  readonly create: boolean;
  readonly cluster: ClusterChoice;
}

/**
 * Sends each line of a file or of standard input to a topic as a message, as soon as it arrives. Returns the number of
 * messages that the broker has acknowledged.
 */
export async function produce(options: ProduceOptions): Promise<number> {
  const input = await openInput(options.file);
  const client = await connectTo(options.cluster);
  await prepareTopic(client, options);
  const producer = client.producer();
  let sent = 0;
  try {
    await producer.connect();
    for await (const lines of arrivingLines(input)) {
      await producer.send(lines.map((line) => message(options, line)));
      sent += lines.length;
    }
    return sent;
  } catch (error) {
    const before = sent === 1 ? '1 message was' : `${String(sent)} messages were`;
    throw new ConfigError(`${toError(error).message}. ${before} sent before.`, { cause: error });
  } finally {
    await producer.close();
  }
}

async function openInput(file: string | undefined): Promise<AsyncIterable<Uint8Array>> {
  if (file === undefined || file === '-') return process.stdin as AsyncIterable<Buffer>;
  try {
    return (await open(file)).createReadStream();
  } catch (error) {
    throw new ConfigError(`Cannot read ${file}: ${toError(error).message}`, { cause: error });
  }
}

async function prepareTopic(client: KafkaClient, { topic, create }: ProduceOptions): Promise<void> {
  const admin = client.admin();
  try {
    if (create) await admin.createTopic({ name: topic, partitions: -1, replicationFactor: -1, settings: {} });
    else if (!(await admin.describeTopics([topic])).has(topic)) {
      throw new ConfigError(`The topic ${topic} does not exist; --create creates it`);
    }
  } finally {
    await admin.close();
  }
}

function message({ topic, key }: ProduceOptions, value: Buffer): ProducedRecord {
  return {
    topic,
    partition: null,
    key: key === undefined ? null : Buffer.from(key),
    value,
    timestamp: null,
    headers: [],
  };
}
