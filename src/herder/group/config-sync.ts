import { sleep } from '../../async/sleep.ts';
import { within } from '../../async/within.ts';
import { toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { WorkerGroupSettings } from './worker-group-settings.ts';

type SyncSettings = Pick<WorkerGroupSettings, 'syncTimeoutMs' | 'unsyncBackoffMs' | 'maxDelayMs'>;

/** Reads the config topic to its end, within the timeouts of the worker group. */
export class ConfigSync {
  readonly #configured: { readonly offset: number; refresh(): Promise<void> };
  readonly #settings: SyncSettings;
  readonly #logger: Logger;

  constructor(
    configured: { readonly offset: number; refresh(): Promise<void> },
    settings: SyncSettings,
    logger: Logger,
  ) {
    this.#configured = configured;
    this.#settings = settings;
    this.#logger = logger;
  }

  /** The offset after the last record that was read; -1 if there is none. */
  get offset(): number {
    return this.#configured.offset;
  }

  /** Resolves with whether the topic was read to its end within `worker.sync.timeout.ms`. A failure is logged. */
  async readToEnd(): Promise<boolean> {
    try {
      const isRead = await within(this.#configured.refresh(), this.#settings.syncTimeoutMs);
      if (isRead) this.#logger.debug({ configOffset: this.offset }, 'Read the config topic to its end');
      return isRead;
    } catch (error) {
      this.#logger.warn({ reason: toError(error).message }, 'The config topic cannot be read');
      return false;
    }
  }

  /** Resolves when the topic has been read to its end after a pause, or when the signal aborts. */
  async untilRead(signal: AbortSignal): Promise<void> {
    const { unsyncBackoffMs, syncTimeoutMs, maxDelayMs } = this.#settings;
    const pauseMs = Math.min(unsyncBackoffMs, Math.max(syncTimeoutMs, maxDelayMs / 10));
    do await sleep(pauseMs, signal).catch(() => undefined);
    while (!signal.aborted && !(await this.readToEnd()));
  }
}
