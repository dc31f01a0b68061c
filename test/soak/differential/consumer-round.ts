import type { ClientProperties, ConsumedRecord, Consumer, KafkaClient } from '../../../src/kafka/api.ts';
import type { JavaPeer } from '../../support/java-peer.ts';
import { uniqueName } from '../../support/services.ts';
import { Draw } from '../../support/random.ts';
import type { Clients } from './clients.ts';
import { GroupReading } from './group-reading.ts';
import { described, Difference, lineOf, offsetOf, type ReadPartition } from './record-lines.ts';
import { topicPlan, type TopicPlan } from './topic-plan.ts';

const READ_MS = 60_000;
const MOST_SEEKS = 4;
const MOST_PAUSES = 6;

/**
 * Java's producers write a topic that is generated from the seed. Java's consumer and ours read it, with limits,
 * pauses, seeks and groups that depend on the seed. Resolves with the number of records that our consumer read. Throws
 * a Difference for the first record that differs.
 */
export async function consumerRound(seed: number, { client, peer }: Clients): Promise<number> {
  const draw = new Draw(seed);
  const topic = uniqueName(`differential-${String(seed)}`);
  const plan = topicPlan(draw, topic);
  let reading: ClientProperties = {};
  try {
    if (!(await isWritten(peer, plan))) return 0;
    let records = 0;
    for (const isolation of isolations(draw, plan)) {
      const limits = { 'isolation.level': isolation };
      const java = await javaReads(peer, plan, { ...readerSettings(draw), ...limits });
      for (let left = draw.between(1, 2); left > 0; left--) {
        const settings = { ...readerSettings(draw), ...limits };
        reading = settings;
        records += draw.chance(0.12)
          ? await new GroupReading({ client, peer, topic, draw, settings }).compare(java)
          : await readAssigned(client, draw, topic, java, settings);
      }
    }
    return records;
  } catch (error) {
    throw described(error, seed, { reading, plan });
  } finally {
    await peer.command('end', { topic }).catch(() => undefined);
  }
}

/**
 * Returns false if Java's producer cannot write the plan, because it splits batches that are too large for the topic
 * endlessly: it fills split batches up to `batch.size` again, and each split lengthens the chain of futures
 * (StackOverflowError).
 */
async function isWritten(peer: JavaPeer, plan: TopicPlan): Promise<boolean> {
  try {
    await peer.command('write', plan);
    return true;
  } catch (error) {
    const isLimited = plan.steps.some((step) => step.step === 'create' && 'max.message.bytes' in (step.settings ?? {}));
    if (isLimited && error instanceof Error && /StackOverflowError|Expiring \d+ record/.test(error.message))
      return false;
    throw error;
  }
}

export async function javaReads(
  peer: JavaPeer,
  { topic, partitions }: Pick<TopicPlan, 'topic' | 'partitions'>,
  settings: ClientProperties,
): Promise<readonly ReadPartition[]> {
  const command = { topic, partitions, settings };
  const { partitions: read } = await peer.command<{ partitions: readonly ReadPartition[] }>('read', command);
  // If a part of an open transaction was deleted, the last stable offset may be in that part.
  return read.map((each) => ({ ...each, end: Math.max(each.start, each.end) }));
}

function isolations(draw: Draw, { isTransactional }: TopicPlan): readonly string[] {
  if (isTransactional) return ['read_uncommitted', 'read_committed'];
  return [draw.pick(['read_uncommitted', 'read_committed'])];
}

export function readerSettings(draw: Draw): ClientProperties {
  return {
    'auto.offset.reset': 'earliest',
    'fetch.max.bytes': draw.pick(['1', '1000', '50000', '1000000', '10000000', '52428800']),
    'max.partition.fetch.bytes': draw.pick(['1', '500', '5000', '70000', '100000', '1048576', '8388608']),
    'max.poll.records': draw.pick(['1', '7', '100', '500', '500', '10000']),
    'fetch.max.wait.ms': draw.pick(['10', '50', '100']),
    'check.crcs': draw.pick(['true', 'true', 'false']),
  };
}

/** The records of a partition that our consumer has not returned yet. */
class Expected {
  readonly partition: number;
  readonly java: ReadPartition;
  #next = 0;

  constructor(partition: number, java: ReadPartition) {
    this.partition = partition;
    this.java = java;
  }

  get isDone(): boolean {
    return this.#next === this.java.lines.length;
  }

  take(record: ConsumedRecord): void {
    const line = lineOf(record);
    const expected = this.java.lines[this.#next++];
    if (line === expected) return;
    throw new Difference(
      `partition ${String(this.partition)}, record ${String(this.#next - 1)} of ${String(this.java.lines.length)}: ` +
        `Java has "${expected ?? 'no more'}", this consumer "${line}"`,
    );
  }

  seek(offset: number): void {
    const { lines } = this.java;
    const found = lines.findIndex((line) => offsetOf(line) >= offset);
    this.#next = found < 0 ? lines.length : found;
  }
}

async function readAssigned(
  client: KafkaClient,
  draw: Draw,
  topic: string,
  java: readonly ReadPartition[],
  settings: ClientProperties,
): Promise<number> {
  const consumer = client.consumer(settings);
  try {
    const expected = java.map((each, partition) => new Expected(partition, each));
    const places = expected.map(({ partition }) => ({ topic, partition }));
    consumer.assign(places);
    const records = await new AssignedReading(consumer, draw, topic, expected).run();
    for (const { partition, offset } of await consumer.endOffsets(places)) {
      const { start, end } = expected[partition]?.java ?? { start: 0, end: -1 };
      if (Math.max(offset, start) !== end)
        throw new Difference(`partition ${String(partition)} ends at ${String(end)}, ${String(offset)} here`);
    }
    return records;
  } finally {
    await consumer.close(5_000);
  }
}

class AssignedReading {
  readonly #consumer: Consumer;
  readonly #draw: Draw;
  readonly #topic: string;
  readonly #expected: readonly Expected[];
  #seeksLeft: number;
  #pausesLeft: number;
  #records = 0;

  constructor(consumer: Consumer, draw: Draw, topic: string, expected: readonly Expected[]) {
    this.#consumer = consumer;
    this.#draw = draw;
    this.#topic = topic;
    this.#expected = expected;
    this.#seeksLeft = draw.pick([0, 0, MOST_SEEKS]);
    this.#pausesLeft = draw.pick([0, 0, MOST_PAUSES]);
  }

  async run(): Promise<number> {
    const deadline = Date.now() + READ_MS;
    const withBlocks = this.#draw.chance(0.5);
    if (this.#draw.chance(0.2)) this.#seek();
    while (this.#consumer.paused().length > 0 || this.#expected.some((each) => !this.#isRead(each))) {
      const timeoutMs = this.#consumer.paused().length > 0 ? 20 : 1_000;
      await (withBlocks ? this.#pollBlocks(timeoutMs) : this.#poll(timeoutMs));
      if (this.#seeksLeft > 0 && this.#draw.chance(0.2)) this.#seek();
      this.#pauseOrResume();
      if (Date.now() > deadline) throw new Difference(`this consumer did not read to the end: ${this.#state()}`);
    }
    for (const { partition, java } of this.#expected) {
      const position = this.#consumer.position({ topic: this.#topic, partition });
      if (position !== java.end) throw new Difference(`the position at the end is wrong: ${this.#state()}`);
    }
    return this.#records;
  }

  #isRead({ partition, java, isDone }: Expected): boolean {
    return isDone && (this.#consumer.position({ topic: this.#topic, partition }) ?? -1) >= java.end;
  }

  async #poll(timeoutMs: number): Promise<void> {
    for (const record of await this.#consumer.poll(timeoutMs)) this.#take(record);
  }

  async #pollBlocks(timeoutMs: number): Promise<void> {
    const blocks = await this.#consumer.pollBlocks(timeoutMs, this.#draw.pick([1, 10, 10_000, 10_000]));
    for (const block of blocks) {
      for (let index = 0; index < block.count; index++) this.#take(block.record(index));
    }
  }

  #take(record: ConsumedRecord): void {
    this.#records += 1;
    this.#expected[record.partition]?.take(record);
  }

  /**
   * Seeks to an offset of the partition, or to a deleted one, from which reading starts at the first existing offset.
   */
  #seek(): void {
    this.#seeksLeft -= 1;
    const each = this.#draw.pick(this.#expected);
    const offset = this.#draw.between(0, each.java.end);
    this.#consumer.seek({ topic: this.#topic, partition: each.partition, offset });
    each.seek(offset);
  }

  #pauseOrResume(): void {
    const paused = this.#consumer.paused();
    if (paused.length > 0 && this.#draw.chance(0.3)) this.#consumer.resume(paused);
    if (this.#pausesLeft === 0 || !this.#draw.chance(0.2)) return;
    this.#pausesLeft -= 1;
    const { partition } = this.#draw.pick(this.#expected);
    this.#consumer.pause([{ topic: this.#topic, partition }]);
  }

  #state(): string {
    return this.#expected
      .map(({ partition, java, isDone }) => {
        const position = this.#consumer.position({ topic: this.#topic, partition });
        const progress = isDone ? 'all records' : 'records are missing';
        return `partition ${String(partition)}: position ${String(position)} of ${String(java.end)}, ${progress}`;
      })
      .join('; ');
  }
}
