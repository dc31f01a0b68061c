import { backoffMs, BoundedMap, NO_JITTER } from '../../../src/index.ts';

/** Failures that cost nothing: people mistype. */
const FREE_FAILURES = 3;
const FIRST_PENALTY_MS = 100;
/** How long an attempt waits at most; one that would have to wait longer is refused. */
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

/** One user from one address; one address with any user; one user from any address, who must not be locked out by others. */
const SCALES = {
  pair: { freeFailures: FREE_FAILURES, maxPenaltyMs: MAX_WAIT_MS },
  address: { freeFailures: 10, maxPenaltyMs: MAX_WAIT_MS },
  user: { freeFailures: 20, maxPenaltyMs: 1_000 },
} as const;

/** An attempt to log in. */
export interface Attempt {
  readonly user: string;
  /** The client's; IPv6 addresses of one network count as one. */
  readonly address: string;
  /** The user exists, as far as is known here; others have budgets of their own. */
  readonly isReal: boolean;
}

/**
 * Slows down password guessing. Each failure doubles the pause before the next attempt of the same user and address.
 * Concurrent attempts queue up, so that many connections guess no faster than one.
 *
 * A user at an address with an earlier login waits only for the failures of that pair, and never longer than
 * MAX_WAIT_MS, so that the guesses of others lock nobody out. Names that do not exist have their own entries, which
 * neither slow down nor displace others.
 */
export class LoginThrottle {
  readonly #real = new BoundedMap<string, Entry>(MAX_ENTRIES);
  readonly #madeUp = new BoundedMap<string, Entry>(MAX_ENTRIES);
  /** Pairs of user and address that have logged in. */
  readonly #known = new BoundedMap<string, true>(MAX_ENTRIES);
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Milliseconds this attempt has to wait before it is checked; `undefined`: not now at all. Books its place. */
  waitMs(attempt: Attempt): number | undefined {
    const now = this.#nowMs();
    const isKnown = this.isKnown(attempt);
    const slots = scales(attempt, isKnown).map(([key, scale]) => ({ entry: this.#recall(attempt, key, now), scale }));
    const waitMs = Math.max(0, ...slots.map(({ entry }) => (entry?.nextAtMs ?? now) - now));
    if (waitMs > MAX_WAIT_MS && !isKnown) return undefined;
    for (const { entry, scale } of slots) {
      if (entry === undefined) continue;
      entry.nextAtMs = Math.max(entry.nextAtMs, now) + penaltyMs(entry.failures, scale);
      if (isKnown) entry.nextAtMs = Math.min(entry.nextAtMs, now + MAX_WAIT_MS);
    }
    return Math.min(waitMs, MAX_WAIT_MS);
  }

  /** The user has logged in from there. */
  isKnown({ user, address }: Pick<Attempt, 'user' | 'address'>): boolean {
    return this.#known.get(pairKey(user, address)) !== undefined;
  }

  failed(attempt: Attempt): void {
    const now = this.#nowMs();
    for (const [key, scale] of scales(attempt, this.isKnown(attempt))) {
      const entry = this.#recall(attempt, key, now) ?? { failures: 0, lastFailureAtMs: now, nextAtMs: now };
      entry.failures += 1;
      entry.lastFailureAtMs = now;
      entry.nextAtMs = Math.max(entry.nextAtMs, now + penaltyMs(entry.failures, scale));
      this.#entriesOf(attempt).set(key, entry);
    }
  }

  succeeded({ user, address }: Pick<Attempt, 'user' | 'address'>): void {
    const key = pairKey(user, address);
    this.#real.delete(key);
    this.#madeUp.delete(key);
    this.#known.set(key, true);
  }

  #entriesOf({ isReal }: Attempt): BoundedMap<string, Entry> {
    return isReal ? this.#real : this.#madeUp;
  }

  #recall(attempt: Attempt, key: string, now: number): Entry | undefined {
    const entries = this.#entriesOf(attempt);
    const entry = entries.get(key);
    if (entry === undefined || now - entry.lastFailureAtMs < MEMORY_MS) return entry;
    entries.delete(key);
    return undefined;
  }
}

function scales({ user, address }: Attempt, isKnown: boolean): readonly (readonly [key: string, scale: Scale])[] {
  const pair = [pairKey(user, address), SCALES.pair] as const;
  return isKnown ? [pair] : [pair, [`address ${address}`, SCALES.address], [`user ${user}`, SCALES.user]];
}

function pairKey(user: string, address: string): string {
  return `pair ${address} ${user}`;
}

function penaltyMs(failures: number, { freeFailures, maxPenaltyMs }: Scale): number {
  if (failures < freeFailures) return 0;
  return backoffMs(failures - freeFailures, { firstMs: FIRST_PENALTY_MS, maxMs: maxPenaltyMs, jitter: NO_JITTER });
}
