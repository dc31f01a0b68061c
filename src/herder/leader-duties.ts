import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { StatusWriter } from './status-writer.ts';
import { SessionKeys, type SessionKeySettings } from './session-keys.ts';
import type { HerderStores } from './stores/herder-stores.ts';

/**
 * What the leader of the cluster does besides dividing the work: it claims the config topic, keeps the key that workers sign
 * with, and removes the statuses of what is not configured any more.
 *
 * following <--lead, follow--> leading
 */
export class LeaderDuties {
  readonly #stores: Pick<HerderStores, 'configs' | 'statuses'>;
  readonly #statusWriter: StatusWriter;
  readonly #sessionKeys: SessionKeySettings | undefined;
  readonly #logger: Logger;
  #keys: SessionKeys | undefined;

  /** `sessionKeys`: `undefined` for a worker without a group. */
  constructor(
    stores: Pick<HerderStores, 'configs' | 'statuses'>,
    statusWriter: StatusWriter,
    sessionKeys: SessionKeySettings | undefined,
    logger: Logger,
  ) {
    this.#stores = stores;
    this.#statusWriter = statusWriter;
    this.#sessionKeys = sessionKeys;
    this.#logger = logger;
  }

  /** After each division of work: others have stopped what was deleted, and written their last statuses, by then. */
  async lead(): Promise<void> {
    const { configs } = this.#stores;
    await configs.lead().catch((error: unknown) => {
      this.#logger.error({ err: error }, 'The config topic could not be claimed; the next write to it tries again');
    });
    if (this.#keys === undefined && this.#sessionKeys !== undefined) {
      this.#keys = new SessionKeys(configs, this.#sessionKeys, this.#logger);
      await this.#keys.keep().catch((error: unknown) => {
        this.#logger.error({ err: error }, 'The session key of the cluster could not be written');
        this.follow();
      });
    }
    this.#sweep().catch((error: unknown) => {
      this.#logger.warn({ reason: toError(error).message }, 'Statuses of what was deleted could not be taken away');
    });
  }

  follow(): void {
    this.#keys?.stop();
    this.#keys = undefined;
    this.#stores.configs.follow().catch((error: unknown) => {
      this.#logger.warn({ err: error }, 'The producer of the leader could not be closed');
    });
  }

  async #sweep(): Promise<void> {
    const { configs, statuses } = this.#stores;
    await statuses.refresh();
    for (const name of statuses.names()) {
      const state = configs.connector(name);
      if (state === undefined) this.#statusWriter.removeConnector(name);
      else {
        for (const [task] of statuses.tasks(name)) {
          if (task >= state.taskConfigs.length) this.#statusWriter.removeTask({ connector: name, task });
        }
      }
    }
  }
}
