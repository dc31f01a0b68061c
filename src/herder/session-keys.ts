import { randomBytes } from 'node:crypto';
import { Backoff } from '../async/backoff.ts';
import type { Logger } from '../observe/logger.ts';
import type { SessionKey } from './stores/config-state.ts';
import type { ConfigStore } from './stores/config-store.ts';

export interface SessionKeySettings {
  /** `inter.worker.key.generation.algorithm` */
  readonly algorithm: string;
  /** `inter.worker.key.size`, in bits; `null` selects the default of the algorithm. */
  readonly bits: number | null;
  /** `inter.worker.key.ttl.ms`; 0 means that the key is never replaced. */
  readonly ttlMs: number;
}

/**
 * Default key sizes of Java's generators in bits. For MD5 and SHA-1, the default is the block size of the hash; for all others,
 * the size of the hash.
 */
const DEFAULT_BITS: Readonly<Record<string, number>> = {
  HmacMD5: 512,
  HmacSHA1: 512,
  HmacSHA224: 224,
  HmacSHA256: 256,
  HmacSHA384: 384,
  HmacSHA512: 512,
};

/** Shortest and longest wait before a failed rotation is retried. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/**
 * Rotates the session key in the config topic. Workers sign their requests to each other with this key. Only used by
 * leaders.
 *
 * States: idle -> keeping (the topic contains a key that has not expired) -> stopped.
 */
export class SessionKeys {
  readonly #configs: ConfigStore;
  readonly #settings: SessionKeySettings;
  readonly #logger: Logger;
  readonly #retries = new Backoff(FIRST_RETRY_MS, LAST_RETRY_MS);
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(configs: ConfigStore, settings: SessionKeySettings, logger: Logger) {
    this.#configs = configs;
    this.#settings = settings;
    this.#logger = logger;
  }

  /**
   * Writes a new key unless the key in the topic is still valid, and rejects if this fails. Afterwards, writes a new
   * key whenever the current one expires; these writes are retried after failures.
   */
  async keep(): Promise<void> {
    const { ttlMs } = this.#settings;
    const key = this.#configs.sessionKey;
    const ageMs = key === undefined ? Infinity : Date.now() - key.createdAtMs;
    const isValid = key !== undefined && (ttlMs <= 0 || ageMs < ttlMs);
    if (!isValid) await this.#configs.putSessionKey(this.#newKey());
    this.#retries.reset();
    if (ttlMs > 0) this.#keepAfter(isValid ? ttlMs - ageMs : ttlMs);
  }

  #keepAfter(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.keep().catch((error: unknown) => {
        const retryMs = Math.min(this.#settings.ttlMs, this.#retries.nextMs());
        this.#logger.error(
          { err: error },
          `Failed to rotate the session key; keeping the current one, and retrying in ${String(Math.round(retryMs))} ms`,
        );
        this.#keepAfter(retryMs);
      });
    }, delayMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #newKey(): SessionKey {
    const { algorithm, bits } = this.#settings;
    const size = Math.ceil((bits ?? DEFAULT_BITS[algorithm] ?? 256) / 8);
    return { key: randomBytes(size).toString('base64'), algorithm, createdAtMs: Date.now() };
  }
}
