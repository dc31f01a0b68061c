import { setTimeout as delay } from 'node:timers/promises';
import type { Producer, ProducedRecord } from '../../src/kafka/api.ts';
import { toError } from '../../src/errors.ts';

const STEP_MS = 10;

/** Sends records at a constant rate, regardless of the results of earlier ones. Ids increase from the first one. */
export class SteadyLoad {
  readonly #sending = new Set<Promise<void>>();
  readonly #running: Promise<number>;
  #stopped = false;
  #failure: Error | undefined;

  constructor(producer: Producer, recordOf: (id: number) => ProducedRecord, perSecond: number, firstId = 0) {
    this.#running = (async () => {
      const began = performance.now();
      let sent = 0;
      while (!this.#stopped) {
        const due = Math.floor(((performance.now() - began) * perSecond) / 1000);
        const records = Array.from({ length: due - sent }, (_, i) => recordOf(firstId + sent + i));
        if (records.length > 0) this.#send(producer, records);
        sent = due;
        await delay(STEP_MS);
      }
      return firstId + sent;
    })();
  }

  /** Stops the load. Resolves with the next id when all records are in their topics. */
  async stop(): Promise<number> {
    this.#stopped = true;
    const next = await this.#running;
    await Promise.all(this.#sending);
    if (this.#failure !== undefined) throw this.#failure;
    return next;
  }

  #send(producer: Producer, records: readonly ProducedRecord[]): void {
    const sending = producer
      .send(records)
      .catch((error: unknown) => {
        this.#failure ??= toError(error);
      })
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }
}
