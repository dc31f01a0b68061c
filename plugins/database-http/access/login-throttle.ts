import { backoffMs, BoundedMap, NO_JITTER } from '../../../src/index.ts';

/** From this failure on, attempts have a penalty. Earlier ones have none, because users mistype passwords. */
const FREE_FAILURES = 3;
const FIRST_PENALTY_MS = 100;
/**
 * Maximum wait of an attempt. An attempt that would have to wait longer is rejected, unless the user has logged in from
 * the same address before.
 */
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

interface Limit {
  readonly freeFailures: number;
  readonly maxPenaltyMs: number;
}

/** Limits for one user from one address, for one address with any user, and for one user from any address. */
const LIMITS = {
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
 * Slows down password guessing. Each failure beyond the free ones (LIMITS) doubles the pause before the next attempt.
 * Concurrent attempts queue up, so that many connections guess no faster than one.
 *
 * A user with an earlier login from the same address waits only because of failures of this user and address, and at most
 * MAX_WAIT_MS, so that the guesses of other clients lock no user out. Names that do not exist have their own entries, which
 * neither slow down nor displace the entries of existing users.
 */
export class LoginThrottle {
  readonly #existingUsers = new BoundedMap<string, Entry>(MAX_ENTRIES);
  readonly #otherUsers = new BoundedMap<string, Entry>(MAX_ENTRIES);
  /** Pairs of user and address that have logged in. */
  readonly #knownPairs = new BoundedMap<string, true>(MAX_ENTRIES);
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
    const slots = limitsOf(attempt, isKnown).map(([key, limit]) => ({ entry: this.#recall(attempt, key, now), limit }));
    const waitMs = Math.max(0, ...slots.map(({ entry }) => (entry?.nextAtMs ?? now) - now));
    if (waitMs > MAX_WAIT_MS && !isKnown) return undefined;
    for (const { entry, limit } of slots) {
      if (entry === undefined) continue;
      entry.nextAtMs = Math.max(entry.nextAtMs, now) + penaltyMs(entry.failures, limit);
      if (isKnown) entry.nextAtMs = Math.min(entry.nextAtMs, now + MAX_WAIT_MS);
    }
    return Math.min(waitMs, MAX_WAIT_MS);
  }

  /** Whether the user has logged in from the address. */
  isKnown({ user, address }: Pick<Attempt, 'user' | 'address'>): boolean {
    return this.#knownPairs.get(pairKey(user, address)) !== undefined;
  }

  failed(attempt: Attempt): void {
    const now = this.#nowMs();
    for (const [key, limit] of limitsOf(attempt, this.isKnown(attempt))) {
      const entry = this.#recall(attempt, key, now) ?? { failures: 0, lastFailureAtMs: now, nextAtMs: now };
      entry.failures += 1;
      entry.lastFailureAtMs = now;
      entry.nextAtMs = Math.max(entry.nextAtMs, now + penaltyMs(entry.failures, limit));
      this.#entriesOf(attempt).set(key, entry);
    }
  }

  succeeded({ user, address }: Pick<Attempt, 'user' | 'address'>): void {
    const key = pairKey(user, address);
    this.#existingUsers.delete(key);
    this.#otherUsers.delete(key);
    this.#knownPairs.set(key, true);
  }

  #entriesOf({ isReal }: Attempt): BoundedMap<string, Entry> {
    return isReal ? this.#existingUsers : this.#otherUsers;
  }

  #recall(attempt: Attempt, key: string, now: number): Entry | undefined {
    const entries = this.#entriesOf(attempt);
    const entry = entries.get(key);
    if (entry === undefined || now - entry.lastFailureAtMs < MEMORY_MS) return entry;
    entries.delete(key);
    return undefined;
  }
}

function limitsOf({ user, address }: Attempt, isKnown: boolean): readonly (readonly [key: string, limit: Limit])[] {
  const pair = [pairKey(user, address), LIMITS.pair] as const;
  return isKnown ? [pair] : [pair, [`address ${address}`, LIMITS.address], [`user ${user}`, LIMITS.user]];
}

function pairKey(user: string, address: string): string {
  return `pair ${address} ${user}`;
}

function penaltyMs(failures: number, { freeFailures, maxPenaltyMs }: Limit): number {
  if (failures < freeFailures) return 0;
  return backoffMs(failures - freeFailures, { firstMs: FIRST_PENALTY_MS, maxMs: maxPenaltyMs, jitter: NO_JITTER });
}
