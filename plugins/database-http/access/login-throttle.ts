import { backoffMs, BoundedMap, NO_JITTER } from '../../../src/index.ts';

/** Number of failures without a penalty, because users mistype passwords. */
const FREE_FAILURES = 3;
const FIRST_PENALTY_MS = 100;
/** Maximum wait of an attempt. An attempt that would have to wait longer is rejected. */
const MAX_WAIT_MS = 5_000;
/** Failures are forgotten after this time without a further failure. */
const MEMORY_MS = 15 * 60_000;
const MAX_ENTRIES = 10_000;

interface Entry {
  failures: number;
  lastFailureAtMs: number;
  /** Earliest time at which the next attempt may be checked. */
  nextAtMs: number;
}

interface Scale {
  readonly freeFailures: number;
  readonly maxPenaltyMs: number;
}

/** Scales for one user from one address, for one address with any user, and for one user from any address. */
const SCALES = {
  pair: { freeFailures: FREE_FAILURES, maxPenaltyMs: MAX_WAIT_MS },
  address: { freeFailures: 10, maxPenaltyMs: MAX_WAIT_MS },
  user: { freeFailures: 20, maxPenaltyMs: 1_000 },
} as const;

/** An attempt to log in. */
export interface Attempt {
  readonly user: string;
  /** Address of the client. IPv6 addresses of one network count as one address. */
  readonly address: string;
  /** Whether the user is known to exist. Attempts with unknown users are counted separately. */
  readonly isReal: boolean;
}

/**
 * Slows down password guessing. Each failure doubles the pause before the next attempt of the same user and address.
 * Concurrent attempts queue up, so that many connections guess no faster than one.
 *
 * A user with an earlier login from the same address waits only because of failures of that pair, and never longer than
 * MAX_WAIT_MS, so that the guesses of other clients lock no user out. Names that do not exist have their own entries, which
 * neither slow down nor displace the entries of existing users.
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

  /**
   * Reserves the next free time for an attempt and returns the milliseconds to wait before it is checked. Returns `undefined` if
   * the wait is too long and the attempt must be rejected.
   */
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

  /** Whether the user has logged in from the address. */
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
