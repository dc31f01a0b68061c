import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Password } from '../../../src/index.ts';
import type { Identity } from './identity.ts';

/** Maximum number of sessions per user. A further login ends the session that has been unused for the longest time. */
const MAX_SESSIONS_PER_USER = 1000;

/** The session of one login. It expires when it has been unused for the validity period. */
export interface ApiSession {
  /** UUID. */
  readonly id: string;
  readonly identity: Identity;
  /** The token, which is shown when its own user lists the sessions. */
  readonly token: Password;
  lastUsedAtMs: number;
  /** Number of requests that currently run with the token. */
  running: number;
}

/**
 * The sessions of the issued tokens. Expired sessions are removed by `sweep` and `list`, and when their token is used.
 */
export class SessionStore {
  readonly #byTokenHash = new Map<string, ApiSession>();
  readonly #nowMs: () => number;
  readonly #lifetimeMs: () => number;

  constructor(nowMs: () => number, lifetimeMs: () => number) {
    this.#nowMs = nowMs;
    this.#lifetimeMs = lifetimeMs;
  }

  /** Creates a session and its token, which consists of 32 hexadecimal digits from a cryptographic random source. */
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

  /** Restarts the validity period. */
  refresh(session: ApiSession): void {
    session.lastUsedAtMs = this.#nowMs();
  }

  /** Number of sessions, including expired sessions that have not been removed yet. */
  get size(): number {
    return this.#byTokenHash.size;
  }

  list(): readonly ApiSession[] {
    this.sweep();
    return [...this.#byTokenHash.values()];
  }

  /** Removes a session. Requests that already run with it continue. */
  delete(session: ApiSession): void {
    for (const [key, each] of this.#byTokenHash) if (each === session) this.#byTokenHash.delete(key);
  }

  /** Removes expired sessions. */
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

/** A plain hash without a salt is sufficient, because tokens have 128 random bits. */
function hash(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
