import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Password } from '../../../src/index.ts';
import type { Identity } from './identity.ts';

/** Logins of one user that are kept; further ones end the one that was not used for the longest time. */
const MAX_SESSIONS_PER_USER = 1000;

/** One login. It is alive while it is younger than the validity period, counted from its last login or use. */
export interface ApiSession {
  /** UUID. */
  readonly id: string;
  readonly identity: Identity;
  /** For the listing of its own user. */
  readonly token: Password;
  lastUsedAtMs: number;
  /** Requests that run with the token now. */
  running: number;
}

/** The issued tokens. `alive` sessions become `expired` by the clock alone; they are removed at the next access. */
export class SessionStore {
  readonly #byTokenHash = new Map<string, ApiSession>();
  readonly #nowMs: () => number;
  readonly #lifetimeMs: () => number;

  constructor(nowMs: () => number, lifetimeMs: () => number) {
    this.#nowMs = nowMs;
    this.#lifetimeMs = lifetimeMs;
  }

  /** A new session and its token: 32 hexadecimal digits from a cryptographic source. */
  open(identity: Identity): { readonly token: string; readonly session: ApiSession } {
    this.#makeRoom(identity.user);
    const token = randomBytes(16).toString('hex');
    const session: ApiSession = {
      id: randomUUID(),
      identity,
      token: new Password(token),
      lastUsedAtMs: this.#nowMs(),
      running: 0,
    };
    this.#byTokenHash.set(hash(token), session);
    return { token, session };
  }

  find(token: string): ApiSession | undefined {
    const key = hash(token);
    const session = this.#byTokenHash.get(key);
    if (session === undefined || this.#isAlive(session)) return session;
    this.#byTokenHash.delete(key);
    return undefined;
  }

  /** The validity period starts again. */
  refresh(session: ApiSession): void {
    session.lastUsedAtMs = this.#nowMs();
  }

  /** Includes sessions that may have expired. */
  get size(): number {
    return this.#byTokenHash.size;
  }

  list(): readonly ApiSession[] {
    this.sweep();
    return [...this.#byTokenHash.values()];
  }

  /** Requests that already run with it continue. */
  delete(session: ApiSession): void {
    for (const [key, each] of this.#byTokenHash) if (each === session) this.#byTokenHash.delete(key);
  }

  /** Forgets what has expired. */
  sweep(): void {
    for (const [key, session] of this.#byTokenHash) if (!this.#isAlive(session)) this.#byTokenHash.delete(key);
  }

  clear(): void {
    this.#byTokenHash.clear();
  }

  #isAlive(session: ApiSession): boolean {
    return this.#nowMs() - session.lastUsedAtMs < this.#lifetimeMs();
  }

  #makeRoom(user: string): void {
    let count = 0;
    let oldest: ApiSession | undefined;
    for (const session of this.#byTokenHash.values()) {
      if (session.identity.user !== user) continue;
      count += 1;
      if (oldest === undefined || session.lastUsedAtMs < oldest.lastUsedAtMs) oldest = session;
    }
    if (count >= MAX_SESSIONS_PER_USER && oldest !== undefined) this.delete(oldest);
  }
}

/** Tokens have 128 random bits: a plain hash cannot be turned back. */
function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
