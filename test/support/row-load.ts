import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaTraffic } from './kafka-traffic.ts';

/**
 * Produces rows of line protocol with increasing ids, a few at a time, to the partitions of a topic in turn, until it
 * is stopped: `<table>,category=p<partition> id=<id>i <START_MS + id>`.
 */
export class RowLoad {
  static readonly START_MS = 1_700_000_000_000;
  readonly #running: Promise<void>;
  #count = 0;
  #stopped = false;

  constructor(kafka: KafkaTraffic, topic: string, table: string, partitions: number, everyMs = 40, rows = 12) {
    this.#running = (async () => {
      while (!this.#stopped) {
        const messages = Array.from({ length: rows }, (_, i) => {
          const id = this.#count + i;
          const category = `p${String(id % partitions)}`;
          const value = `${table},category=${category} id=${String(id)}i ${String(RowLoad.START_MS + id)}`;
          return { value, partition: id % partitions };
        });
        await kafka.produce(topic, messages);
        this.#count += rows;
        await delay(everyMs);
      }
    })();
  }

  /** Stops the load. Resolves with the number of rows in the topic. */
  async stop(): Promise<number> {
    this.#stopped = true;
    await this.#running;
    return this.#count;
  }
}
