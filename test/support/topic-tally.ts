import type { ClientProperties, KafkaClient } from '../../src/kafka/api.ts';

/** Counts how often each number from 0 is in a topic. */
export class TopicTally {
  readonly #counts: Uint8Array;
  private constructor(size: number) {
    this.#counts = new Uint8Array(size);
  }

  /** Reads the topic from its beginning to its current end. `numberOf` returns the number of a record. */
  static async of(
    client: KafkaClient,
    topic: string,
    size: number,
    numberOf: (value: Buffer) => number,
    properties: ClientProperties = {},
  ): Promise<TopicTally> {
    const tally = new TopicTally(size);
    const admin = client.admin();
    const partitions = (await admin.describeTopics([topic])).get(topic) ?? 0;
    await admin.close();
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest', ...properties });
    const all = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }));
    consumer.assign(all);
    try {
      const ends = await consumer.endOffsets(all);
      while (ends.some((end) => (consumer.position(end) ?? 0) < end.offset)) {
        for (const { value } of await consumer.poll(100)) tally.#add(value === null ? -1 : numberOf(value));
      }
    } finally {
      await consumer.close(1000);
    }
    return tally;
  }

  /** How often a number is in the topic, at most 255. */
  times(number: number): number {
    return this.#counts[number] ?? 0;
  }

  /** Numbers that are missing, and numbers that occur more than once. */
  get faults(): { readonly lost: number[]; readonly doubled: number[] } {
    const lost: number[] = [];
    const doubled: number[] = [];
    for (const [number, count] of this.#counts.entries()) {
      if (count === 0) lost.push(number);
      else if (count > 1) doubled.push(number);
    }
    return { lost, doubled };
  }

  #add(number: number): void {
    const count = this.#counts[number];
    if (count === undefined) throw new Error(`The topic has number ${String(number)}, which nobody has written`);
    this.#counts[number] = Math.min(255, count + 1);
  }
}
