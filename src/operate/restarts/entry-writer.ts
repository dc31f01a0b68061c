import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { OwnStore, StoredJson } from '../../herder/stores/own-store.ts';

/** Writes entries in the background, of each key the newest: while no broker answers, no more than one of each waits. */
export class EntryWriter {
  readonly #own: Pick<OwnStore, 'put'>;
  readonly #logger: Logger;
  readonly #pending = new Map<string, StoredJson | null>();
  #writing: Promise<void> | undefined;

  constructor(own: Pick<OwnStore, 'put'>, logger: Logger) {
    this.#own = own;
    this.#logger = logger;
  }

  /** `null` removes the entry. */
  set(key: string, value: StoredJson | null): void {
    this.#pending.delete(key);
    this.#pending.set(key, value);
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  /** Resolves when everything so far is written, or was given up. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#pending.size > 0) {
      const batch = [...this.#pending];
      this.#pending.clear();
      await Promise.all(batch.map(([key, value]) => this.#put(key, value)));
    }
  }

  async #put(key: string, value: StoredJson | null): Promise<void> {
    try {
      await this.#own.put(key, value);
    } catch (error) {
      this.#logger.warn(
        { key, reason: toError(error).message },
        'Failed to store a restart state; a worker that takes the task over counts its restarts from the beginning',
      );
    }
  }
}
