import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { StatusWriter } from './status-writer.ts';
import { SessionKeys, type SessionKeySettings } from './session-keys.ts';
import type { HerderStores } from './stores/herder-stores.ts';

/**
 * Duties of the leader in addition to assigning work: it claims the config topic, rotates the session key, and removes the
 * statuses of connectors and tasks that no longer exist.
 *
 *   following --lead--> leading --follow--> following
 */
export class LeaderDuties {
  readonly #stores: Pick<HerderStores, 'configs' | 'statuses'>;
  readonly #statusWriter: StatusWriter;
  readonly #sessionKeys: SessionKeySettings | undefined;
  readonly #logger: Logger;
  #keys: SessionKeys | undefined;

  /** `sessionKeys` is `undefined` for a standalone worker. */
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

  /**
   * Called on the leader after each rebalance. After work was deleted, several rebalances follow. Before the last of them,
   * the other workers have stopped the deleted work and have written its last statuses, so that these are removed too.
   */
  async lead(): Promise<void> {
    const { configs } = this.#stores;
    await configs.lead().catch((error: unknown) => {
      this.#logger.error({ err: error }, 'Failed to claim the config topic; the next write retries');
    });
    if (this.#keys === undefined && this.#sessionKeys !== undefined) {
      this.#keys = new SessionKeys(configs, this.#sessionKeys, this.#logger);
      await this.#keys.keep().catch((error: unknown) => {
        this.#logger.error({ err: error }, 'Failed to write the session key of the cluster');
        this.follow();
      });
    }
    this.#removeStaleStatuses().catch((error: unknown) => {
      this.#logger.warn(
        { reason: toError(error).message },
        'Failed to remove the statuses of deleted connectors and tasks',
      );
    });
  }

  follow(): void {
    this.#keys?.stop();
    this.#keys = undefined;
    this.#stores.configs.follow().catch((error: unknown) => {
      this.#logger.warn({ err: error }, "Failed to close the leader's producer");
    });
  }

  async #removeStaleStatuses(): Promise<void> {
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
