import type {
  ClientProperties,
  ConsumedRecord,
  Consumer,
  Handover,
  KafkaClient,
  PartitionPosition,
} from '../../src/kafka/api.ts';
import { rebalanceLog } from './kafka-fixture.ts';

export const FROM_BEGINNING: ClientProperties = { 'auto.offset.reset': 'earliest', 'fetch.max.wait.ms': '50' };
export const QUICK: ClientProperties = { ...FROM_BEGINNING, 'heartbeat.interval.ms': '100' };

/** A member that polls in the background, commits the records it has read when partitions are revoked, and keeps all records. */
export class GroupReader {
  readonly log = rebalanceLog({ onRevoked: () => this.commit() });
  readonly records: ConsumedRecord[] = [];
  readonly consumer: Consumer;
  #running = true;
  readonly #loop: Promise<void>;

  constructor(
    client: KafkaClient,
    group: string,
    topic: string,
    properties: ClientProperties = {},
    handover?: Handover,
  ) {
    const common = properties['group.protocol'] === 'consumer' ? FROM_BEGINNING : QUICK;
    this.consumer = client.consumer({ ...common, 'group.id': group, 'max.poll.records': '20', ...properties });
    this.consumer.subscribe([topic], this.log, handover);
    this.#loop = this.#run();
    this.#loop.catch(() => undefined);
  }

  async commit(): Promise<void> {
    const positions: PartitionPosition[] = [];
    for (const partition of this.consumer.assignment()) {
      const offset = this.consumer.position(partition);
      if (offset !== undefined) positions.push({ ...partition, offset });
    }
    await this.consumer.commit(positions);
  }

  owned(): number[] {
    return this.consumer.assignment().map(({ partition }) => partition);
  }

  async close(): Promise<void> {
    await this.#end();
    await this.consumer.close(5000);
  }

  async handOver(): Promise<Handover | undefined> {
    await this.#end();
    return this.consumer.handOver(5000);
  }

  async #end(): Promise<void> {
    this.#running = false;
    this.consumer.wakeup();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (this.#running) this.records.push(...(await this.consumer.poll(100)));
  }
}
