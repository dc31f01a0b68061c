import type { SlotHolder } from '../transport/connection-slots.ts';

/** Makes the code that reads a result from the database wait while the client reads the answer more slowly. */
export class ClientWait implements SlotHolder {
  readonly #stallMs: number;
  #stalled: NodeJS.Timeout | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((reason: Error) => void) | undefined;
  #blockedSinceMs: number | undefined;

  /** A client that reads nothing for this long is disconnected. */
  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  get blockedSinceMs(): number | undefined {
    return this.#blockedSinceMs;
  }

  /** Resolves when `end` is called; rejects when the client is disconnected. */
  async begin(): Promise<void> {
    this.#blockedSinceMs = performance.now();
    try {
      await new Promise<void>((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
        this.#stalled = setTimeout(() => reject(new Error('the client reads nothing of the answer')), this.#stallMs);
      });
    } finally {
      clearTimeout(this.#stalled);
      this.#blockedSinceMs = this.#resolve = this.#reject = undefined;
    }
  }

  /** Called when the client has read something. */
  refresh(): void {
    if (this.#blockedSinceMs === undefined) return;
    this.#stalled?.refresh();
    this.#blockedSinceMs = performance.now();
  }

  end(): void {
    this.#resolve?.();
  }

  cut(): void {
    this.#reject?.(
      new Error('the client reads the answer too slowly, and other requests wait for its database connection'),
    );
  }
}
