/** Failures that cost nothing: people mistype. */
const FREE_FAILURES = 3;
const FIRST_PENALTY_MS = 100;
/** What an attempt waits at most; one that would have to wait longer is turned away. */
const MAX_WAIT_MS = 5_000;
/** Failures are forgotten after this time without another. */
const MEMORY_MS = 15 * 60_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  failures: number;
  lastFailureAtMs: number;
  /** The next attempt may not be checked before. */
  nextAtMs: number;
}

interface Scale {
  readonly freeFailures: number;
  readonly maxPenaltyMs: number;
}

/** One user from one address; one address whoever it names; one user wherever from, who must not be locked out by others. */
const SCALES = {
  pair: { freeFailures: FREE_FAILURES, maxPenaltyMs: MAX_WAIT_MS },
  address: { freeFailures: 10, maxPenaltyMs: MAX_WAIT_MS },
  user: { freeFailures: 20, maxPenaltyMs: 1_000 },
} as const;

/**
 * Slows down those who guess passwords. Each failure doubles the pause before the next attempt of the same user and
 * address; attempts that come together queue up behind each other, so that many connections guess no faster than one.
 */
export class LoginThrottle {
  readonly #entries = new Map<string, Entry>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Milliseconds this attempt has to wait before it is checked; `undefined`: not now at all. Books its place. */
  waitMs(user: string, address: string): number | undefined {
    const now = this.#nowMs();
    const slots = scales(user, address).map(([key, scale]) => ({ entry: this.#recall(key, now), scale }));
    const waitMs = Math.max(0, ...slots.map(({ entry }) => (entry?.nextAtMs ?? now) - now));
    if (waitMs > MAX_WAIT_MS) return undefined;
    for (const { entry, scale } of slots) {
      if (entry !== undefined) entry.nextAtMs = Math.max(entry.nextAtMs, now) + penaltyMs(entry.failures, scale);
    }
    return waitMs;
  }

  failed(user: string, address: string): void {
    const now = this.#nowMs();
    for (const [key, scale] of scales(user, address)) {
      const entry = this.#recall(key, now) ?? { failures: 0, lastFailureAtMs: now, nextAtMs: now };
      entry.failures += 1;
      entry.lastFailureAtMs = now;
      entry.nextAtMs = Math.max(entry.nextAtMs, now + penaltyMs(entry.failures, scale));
      // Set anew, so that the map's order is that of the last failure.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(key);
    }
  }

  succeeded(user: string, address: string): void {
    this.#entries.delete(pairKey(user, address));
  }

  #recall(key: string, now: number): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || now - entry.lastFailureAtMs < MEMORY_MS) return entry;
    this.#entries.delete(key);
    return undefined;
  }
}

function scales(user: string, address: string): readonly (readonly [key: string, scale: Scale])[] {
  return [
    [pairKey(user, address), SCALES.pair],
    [`address ${address}`, SCALES.address],
    [`user ${user}`, SCALES.user],
  ];
}

function pairKey(user: string, address: string): string {
  return `pair ${address} ${user}`;
}

function penaltyMs(failures: number, { freeFailures, maxPenaltyMs }: Scale): number {
  if (failures < freeFailures) return 0;
  return Math.min(maxPenaltyMs, FIRST_PENALTY_MS * 2 ** (failures - freeFailures));
}
