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

  /** The offset after the last record that was read; -1 if no record was read. */
  get offset(): number {
    return this.#configured.offset;
  }

  /**
   * Reads the topic to its end. Resolves with false if that fails or takes longer than `worker.sync.timeout.ms`. A failure is
   * logged.
   */
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

  /** Waits, and then reads the topic to its end, until that succeeds or the signal aborts. */
  async untilRead(signal: AbortSignal): Promise<void> {
    const { unsyncBackoffMs, syncTimeoutMs, maxDelayMs } = this.#settings;
    const pauseMs = Math.min(unsyncBackoffMs, Math.max(syncTimeoutMs, maxDelayMs / 10));
    do await sleep(pauseMs, signal).catch(() => undefined);
    while (!signal.aborted && !(await this.readToEnd()));
  }
}
