import { setInterval } from 'node:timers/promises';
import { Backoff } from '../async/backoff.ts';
import { firstCause } from '../errors.ts';
import type { OnProgress } from './progress.ts';

/** A service on this machine that the stack has started. */
export interface KeptService {
  readonly title: string;
  readonly logFile: string;
  readonly running: boolean;
  start(signal: AbortSignal): Promise<void>;
}

const LOOK_EVERY_MS = 500;

/** Restarts services that have ended on their own, until it is stopped. */
export class ServiceKeeper {
  readonly #ending = new AbortController();
  readonly #lookEveryMs: number;
  readonly #done: Promise<unknown>;

  constructor(services: readonly KeptService[], onProgress: OnProgress, lookEveryMs = LOOK_EVERY_MS) {
    this.#lookEveryMs = lookEveryMs;
    this.#done = Promise.all(services.map((service) => this.#keep(service, onProgress)));
  }

  /** Stops restarting services. Resolves when no start is pending. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#done;
  }

  async #keep(service: KeptService, onProgress: OnProgress): Promise<void> {
    const { signal } = this.#ending;
    const pauses = new Backoff(1000, 30_000);
    let nextAt = 0;
    try {
      for await (const _ of setInterval(this.#lookEveryMs, undefined, { signal })) {
        if (service.running || Date.now() < nextAt) continue;
        if (nextAt === 0) onProgress(`${service.title} has ended and is started again; its log is ${service.logFile}`);
        try {
          await service.start(signal);
          onProgress(`${service.title} runs again`);
          pauses.reset();
          nextAt = 0;
        } catch (error) {
          signal.throwIfAborted();
          if (nextAt === 0) onProgress(`${service.title} cannot be started and is tried again: ${firstLine(error)}`);
          nextAt = Date.now() + pauses.nextMs();
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

function firstLine(error: unknown): string {
  return firstCause(error).message.split('\n', 1)[0] ?? '';
}
