import type { ConsumedRecord, Consumer } from '../../../src/kafka/api.ts';
import { until } from '../../support/until.ts';
import type { ModelStage } from './model-stage.ts';

/** The committed records of a topic with one partition that have been read so far. */
export class TopicTail {
  readonly records: ConsumedRecord[] = [];
  readonly #topic: string;
  readonly #stage: ModelStage;
  #consumer: Consumer | undefined;

  constructor(stage: ModelStage, topic: string) {
    this.#stage = stage;
    this.#topic = topic;
  }

  /** Continues to read until the condition is true. */
  async until(isEnough: () => boolean, what: string, timeoutMs: number): Promise<void> {
    if (isEnough()) return;
    const deadline = Date.now() + timeoutMs;
    this.#consumer ??= await this.#open(timeoutMs);
    while (!isEnough()) {
      if (Date.now() > deadline)
        throw new Error(`${this.#topic} has only ${String(this.records.length)} records: ${what}`);
      this.records.push(...(await this.#consumer.poll(200)));
    }
  }

  async close(): Promise<void> {
    await this.#consumer?.close(1000);
  }

  async #open(timeoutMs: number): Promise<Consumer> {
    const { admin, client } = this.#stage;
    const exists = async (): Promise<boolean> => (await admin.describeTopics([this.#topic])).has(this.#topic);
    await until(exists, `topic ${this.#topic} exists`, { timeoutMs });
    const consumer = client.consumer({ 'auto.offset.reset': 'earliest', 'isolation.level': 'read_committed' });
    consumer.assign([{ topic: this.#topic, partition: 0 }]);
    return consumer;
  }
}
