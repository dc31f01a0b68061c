/** A request that holds a slot while a client reads its answer. */
export interface SlotHolder {
  /** Time when the client stopped reading, by `performance.now()`; `undefined` if nothing waits for the client. */
  readonly blockedSinceMs: number | undefined;
  /** Aborts the answer, because other requests need the connection. */
  cut(): void;
}

interface Slots {
  taken: number;
  readonly waiting: (() => void)[];
  readonly holders: Set<SlotHolder>;
  /** Timer that looks for slow readers; set while a request waits. */
  watch: NodeJS.Timeout | undefined;
}

/** Additional connections of each pool for table look-ups, which requests make while they hold a connection. */
export const SPARE_CONNECTIONS = 2;
/** A client that reads nothing for this long loses its connection if another request waits for one. */
const SLOW_READER_MS = 2_000;
const CHECK_INTERVAL_MS = 500;

/**
 * Limits the number of requests that hold a connection of one pool. Without the limit, requests that each hold one connection could
 * wait forever for a second one. Slots are granted in order. While requests wait, the slowest readers are disconnected; otherwise a
 * few of them could block all other requests of their user.
 */
export class ConnectionSlots {
  readonly #limit: number;
  readonly #slots = new WeakMap<object, Slots>();
  #taken = 0;
  #waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Number of requests of all pools that hold a slot, and number of requests that wait for one. */
  get counts(): { readonly taken: number; readonly waiting: number } {
    return { taken: this.#taken, waiting: this.#waiting };
  }

  /** Resolves with a function that releases the slot. Rejects with the reason of the signal if that is aborted first. */
  async take(pool: object, signal: AbortSignal, holder?: SlotHolder): Promise<() => void> {
    signal.throwIfAborted();
    const slots = this.#slots.get(pool) ?? { taken: 0, waiting: [], holders: new Set(), watch: undefined };
    this.#slots.set(pool, slots);
    if (slots.taken < this.#limit) slots.taken += 1;
    else {
      this.#waiting += 1;
      await turn(slots, signal).finally(() => (this.#waiting -= 1));
    }
    this.#taken += 1;
    if (holder !== undefined) slots.holders.add(holder);
    return () => {
      this.#taken -= 1;
      if (holder !== undefined) slots.holders.delete(holder);
      const next = slots.waiting.shift();
      if (next === undefined) slots.taken -= 1;
      else next();
    };
  }
}

/** Waits in the queue. Resolves when a slot was granted. */
async function turn(slots: Slots, signal: AbortSignal): Promise<void> {
  slots.watch ??= setInterval(() => cutSlowest(slots), CHECK_INTERVAL_MS).unref();
  try {
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
  } finally {
    if (slots.waiting.length === 0) {
      clearInterval(slots.watch);
      slots.watch = undefined;
    }
  }
}

function cutSlowest({ holders }: Slots): void {
  let since = performance.now() - SLOW_READER_MS;
  let slowest: SlotHolder | undefined;
  for (const holder of holders) {
    if (holder.blockedSinceMs === undefined || holder.blockedSinceMs > since) continue;
    since = holder.blockedSinceMs;
    slowest = holder;
  }
  if (slowest === undefined) return;
  holders.delete(slowest);
  slowest.cut();
}
