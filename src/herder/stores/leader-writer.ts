import { ConnectError } from '../../errors.ts';
import type { TransactionalProducer } from '../../kafka/api.ts';
import type { Logger } from '../../observe/logger.ts';
import { SerialQueue } from '../../async/serial-queue.ts';

const CLOSE_MS = 2_000;

/**
 * Writes to the config topic in transactions. All workers of a group share the transactional id. When a worker claims the id,
 * it fences an earlier leader that has not noticed yet that it is no longer the leader
 * (org.apache.kafka.connect.storage.KafkaConfigBackingStore#claimWritePrivileges).
 *
 *   released --claim, write--> claimed --release, a failure--> released
 */
export class LeaderWriter {
  readonly #topic: string;
  readonly #open: () => TransactionalProducer;
  readonly #logger: Logger;
  readonly #queue = new SerialQueue();
  #producer: TransactionalProducer | undefined;

  constructor(topic: string, open: () => TransactionalProducer, logger: Logger) {
    this.#topic = topic;
    this.#open = open;
    this.#logger = logger;
  }

  async claim(): Promise<void> {
    await this.#queue.run(() => this.#claimed());
  }

  /**
   * Writes all records or none. A failure may mean that another worker is the leader. The next write then claims the id again.
   */
  async write(records: readonly { readonly key: string; readonly value: Buffer | null }[]): Promise<void> {
    const topic = this.#topic;
    const produced = records.map(({ key, value }) => {
      return { topic, partition: null, key: Buffer.from(key), value, timestamp: null, headers: [] };
    });
    await this.#queue.run(async () => {
      try {
        const producer = await this.#claimed();
        producer.begin();
        await producer.send(produced);
        await producer.commit();
      } catch (error) {
        this.#logger.warn({ err: error }, 'Failed to perform fencable send to config topic');
        await this.#close();
        const why = 'another worker may have become the leader; the request can be tried again';
        throw new ConnectError(`Failed to perform fencable send to config topic: ${why}`, { cause: error });
      }
    });
  }

  async release(): Promise<void> {
    await this.#queue.run(() => this.#close());
  }

  async #claimed(): Promise<TransactionalProducer> {
    if (this.#producer !== undefined) return this.#producer;
    const producer = this.#open();
    this.#producer = producer;
    try {
      await producer.connect();
      await producer.init();
    } catch (error) {
      await this.#close();
      throw error;
    }
    this.#logger.info('Claimed the config topic as the leader; writing to it in transactions');
    return producer;
  }

  /** Closes the producer. If it has left a transaction open, the next claim aborts it. */
  async #close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.close(CLOSE_MS);
  }
}
