import { Signal } from '../../async/signal.ts';
import type { Cluster } from '../connections/cluster.ts';
import { backoffOf } from '../connections/retry.ts';
import { isRetriable } from '../errors/kafka-errors.ts';

/** How one kind of group member sends heartbeats and handles the responses. */
interface Heartbeats<R> {
  send(): Promise<R>;
  /** Handles a response and returns the milliseconds until the next heartbeat. May throw the same errors as `send`. */
  handle(response: R): number;
  /** Called before the retry of a failed heartbeat. */
  onRetry(error: unknown): void;
  /** Called after an error that is not retriable, when the loop has stopped. */
  onFailure(error: unknown): void;
}

/**
 * Sends heartbeats in the background, independently of the caller, until it is stopped. If a heartbeat is pending when the loop
 * is stopped, its response is ignored.
 */
export class HeartbeatLoop<R> {
  readonly #cluster: Cluster;
  readonly #heartbeats: Heartbeats<R>;
  readonly #maxRetryMs: number;
  /** The signal of the current run. */
  #signal: Signal | undefined;

  /** `maxRetryMs` is the longest pause before a retry. */
  constructor(cluster: Cluster, heartbeats: Heartbeats<R>, maxRetryMs = Infinity) {
    this.#cluster = cluster;
    this.#heartbeats = heartbeats;
    this.#maxRetryMs = maxRetryMs;
  }

  /**
   * Starts or restarts the loop. The first heartbeat is sent after `firstMs`, or after the first retry back-off if `firstMs` is
   * absent.
   */
  start(firstMs?: number): void {
    this.stop();
    const signal = new Signal();
    this.#signal = signal;
    void this.#run(signal, firstMs);
  }

  /** Sends the next heartbeat immediately. */
  wake(): void {
    this.#signal?.notify();
  }

  stop(): void {
    const signal = this.#signal;
    this.#signal = undefined;
    signal?.notify();
  }

  async #run(signal: Signal, firstMs: number | undefined): Promise<void> {
    const backoff = backoffOf(this.#cluster);
    const isCurrent = (): boolean => this.#signal === signal;
    let waitMs = firstMs ?? backoff.nextMs();
    while (isCurrent()) {
      await signal.wait(waitMs);
      if (!isCurrent()) return;
      try {
        const response = await this.#heartbeats.send();
        if (!isCurrent()) return;
        waitMs = this.#heartbeats.handle(response);
        backoff.reset();
      } catch (error) {
        if (!isCurrent()) return;
        if (!isRetriable(error)) {
          this.stop();
          this.#heartbeats.onFailure(error);
          return;
        }
        this.#heartbeats.onRetry(error);
        waitMs = Math.min(backoff.nextMs(), this.#maxRetryMs);
      }
    }
  }
}
