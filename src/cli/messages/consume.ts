import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { sleep } from '../../async/sleep.ts';
import type { ConsumedRecord, KafkaClient, PartitionPosition } from '../../kafka/api.ts';
import { connectTo, type ClusterChoice } from './connect.ts';

export interface ConsumeOptions {
  readonly topic: string;
  /** The number of messages to print; absent: no limit. */
  readonly count: number | undefined;
  readonly cluster: ClusterChoice;
  /** Whether the output is a terminal. Then control characters are replaced. */
  readonly forPeople: boolean;
}

/** Reports what the command waits for. */
type Note = (message: string) => void;

const POLL_MS = 1000;
const APPEAR_CHECK_MS = 500;
const LINE_FEED = Buffer.from('\n');

/**
 * Writes the values of a topic's messages, one per line, and continues with new messages. In each partition, the oldest
 * comes first.
 */
export async function consume(options: ConsumeOptions, output: Writable, note: Note): Promise<void> {
  const { topic, count = Infinity } = options;
  const client = await connectTo(options.cluster);
  const partitions = await partitionsOf(client, topic, note);
  const consumer = client.consumer({ 'auto.offset.reset': 'earliest' });
  try {
    consumer.assign(partitions);
    for (let written = 0; written < count;) {
      const records = await consumer.poll(POLL_MS);
      const taken = records.slice(0, count - written);
      written += taken.length;
      const lines = taken.flatMap((record) => [valueText(record, options.forPeople), LINE_FEED]);
      if (lines.length > 0 && !output.write(Buffer.concat(lines))) await once(output, 'drain');
    }
  } finally {
    await consumer.close(POLL_MS);
  }
}

/**
 * Waits for a topic that does not exist yet, because sources need a moment to create theirs. Also contacts the
 * partition leaders, so that an unreachable one is an error here; later there would just be no messages.
 */
async function partitionsOf(client: KafkaClient, topic: string, note: Note): Promise<readonly PartitionPosition[]> {
  const admin = client.admin();
  try {
    for (let waited = false; !(await admin.describeTopics([topic])).has(topic); waited = true) {
      if (!waited) note(`The topic ${topic} does not exist; waiting for it`);
      await sleep(APPEAR_CHECK_MS);
    }
    return await admin.endOffsets(topic);
  } finally {
    await admin.close();
  }
}

/**
 * `null` for a message without a value.
 * @internal
 */
export function valueText({ value }: Pick<ConsumedRecord, 'value'>, forPeople: boolean): Buffer {
  if (value === null) return Buffer.from('null');
  if (!forPeople) return value;
  // Escape sequences could move the cursor or control the terminal in other ways.
  return Buffer.from(value.toString('utf8').replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '\u{fffd}'));
}
