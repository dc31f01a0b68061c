interface Slots {
  taken: number;
  readonly waiting: (() => void)[];
}

/** Connections of each pool that no request pins: a request that has one needs a second to look up a table. */
export const SPARE_CONNECTIONS = 2;

/**
 * How many requests may hold a connection of one pool at the same time. Without it requests that each hold one could
 * wait for each other's second for ever. First come, first served.
 */
export class ConnectionSlots {
  readonly #limit: number;
  readonly #slots = new WeakMap<object, Slots>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves with what gives the slot back; rejects with the signal's reason when that is aborted first. */
  async take(pool: object, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const slots = this.#slots.get(pool) ?? { taken: 0, waiting: [] };
    this.#slots.set(pool, slots);
    const giveBack = (): void => {
      const next = slots.waiting.shift();
      if (next === undefined) slots.taken -= 1;
      else next();
    };
    if (slots.taken < this.#limit) {
      slots.taken += 1;
      return giveBack;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        slots.waiting.splice(slots.waiting.indexOf(onTurn), 1);
        reject(signal.reason as Error);
      };
      const onTurn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      slots.waiting.push(onTurn);
    });
    return giveBack;
  }
}
