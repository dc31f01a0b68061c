import { randomBytes } from 'node:crypto';
import type { Logger } from '../observe/logger.ts';
import type { SessionKey } from './stores/config-state.ts';
import type { ConfigStore } from './stores/config-store.ts';

export interface SessionKeySettings {
  /** `inter.worker.key.generation.algorithm` */
  readonly algorithm: string;
  /** `inter.worker.key.size`, in bits; `null`: the default of the algorithm. */
  readonly bits: number | null;
  /** `inter.worker.key.ttl.ms`; 0: never replaced. */
  readonly ttlMs: number;
}

/** Default key sizes of Java's generators: the size of the hash, for MD5 and SHA-1 that of its block. */
const DEFAULT_BITS: Readonly<Record<string, number>> = {
  HmacMD5: 512,
  HmacSHA1: 512,
  HmacSHA224: 224,
  HmacSHA256: 256,
  HmacSHA384: 384,
  HmacSHA512: 512,
};

/**
 * Rotates the session key in the config topic, with which workers sign their requests. Only used by leaders.
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

  /** Writes a new key unless the key in the topic is still valid, and again whenever the key expires. */
  async keep(): Promise<void> {
    const { ttlMs } = this.#settings;
    const key = this.#configs.sessionKey;
    const ageMs = key === undefined ? Infinity : Date.now() - key.createdAtMs;
    const isValid = key !== undefined && (ttlMs <= 0 || ageMs < ttlMs);
    if (!isValid) await this.#configs.putSessionKey(this.#newKey());
    if (ttlMs <= 0 || this.#stopped) return;
    this.#timer = setTimeout(
      () => {
        this.keep().catch((error: unknown) => {
          this.#logger.error({ err: error }, 'Failed to rotate the session key; keeping the current one');
        });
      },
      isValid ? ttlMs - ageMs : ttlMs,
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
