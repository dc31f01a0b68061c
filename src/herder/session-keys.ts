import { randomBytes } from 'node:crypto';
import type { Logger } from '../observe/logger.ts';
import type { SessionKey } from './stores/config-state.ts';
import type { ConfigStore } from './stores/config-store.ts';

export interface SessionKeySettings {
  /** `inter.worker.key.generation.algorithm` */
  readonly algorithm: string;
  /** `inter.worker.key.size`, in bits; `null`: as many as the algorithm's hash has. */
  readonly bits: number | null;
  /** `inter.worker.key.ttl.ms`; 0: never replaced. */
  readonly ttlMs: number;
}

/** Bits that Java's generators give by default: as many as the hash's, for MD5 and SHA-1 its block. */
const DEFAULT_BITS: Readonly<Record<string, number>> = {
  HmacMD5: 512,
  HmacSHA1: 512,
  HmacSHA224: 224,
  HmacSHA256: 256,
  HmacSHA384: 384,
  HmacSHA512: 512,
};

/**
 * Keeps the key in the config topic that workers sign their requests with. Leaders alone use it.
 *
 * States: idle -> keeping (a key younger than its time to live is in the topic) -> stopped.
 */
export class SessionKeys {
  readonly #configs: ConfigStore;
  readonly #settings: SessionKeySettings;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(configs: ConfigStore, settings: SessionKeySettings, logger: Logger) {
    this.#configs = configs;
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Writes a new key unless the one in the topic is good for a while; then again whenever its time is over. */
  async keep(): Promise<void> {
    const { ttlMs } = this.#settings;
    const key = this.#configs.sessionKey;
    const ageMs = key === undefined ? Infinity : Date.now() - key.createdAtMs;
    const isGood = key !== undefined && (ttlMs <= 0 || ageMs < ttlMs);
    if (!isGood) await this.#configs.putSessionKey(this.#newKey());
    if (ttlMs <= 0 || this.#stopped) return;
    this.#timer = setTimeout(
      () => {
        this.keep().catch((error: unknown) => {
          this.#logger.error({ err: error }, 'The session key could not be replaced; the old one is used on');
        });
      },
      isGood ? ttlMs - ageMs : ttlMs,
    );
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
