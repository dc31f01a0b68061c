import { toError } from '../errors.ts';
import type { Logger } from '../observe/logger.ts';
import type { StatusWriter } from './status-writer.ts';
import { SessionKeys, type SessionKeySettings } from './session-keys.ts';
import type { ConfigStore } from './stores/config-store.ts';
import type { StatusStore } from './stores/status-store.ts';

export interface LeaderDutiesDependencies {
  readonly configs: ConfigStore;
  readonly statuses: StatusStore;
  readonly statusWriter: StatusWriter;
  /** Of a distributed worker. */
  readonly sessionKeys: SessionKeySettings | undefined;
  readonly logger: Logger;
}

/**
 * What the leader of the cluster does besides dividing the work: it claims the config topic, keeps the key that workers sign
 * with, and removes the statuses of what is not configured any more.
 *
 * following <--lead, follow--> leading
 */
export class LeaderDuties {
  readonly #dependencies: LeaderDutiesDependencies;
  #keys: SessionKeys | undefined;

  constructor(dependencies: LeaderDutiesDependencies) {
    this.#dependencies = dependencies;
  }

  /** After each division of work: others have stopped what was deleted, and written their last statuses, by then. */
  async lead(): Promise<void> {
    const { configs, sessionKeys, logger } = this.#dependencies;
    await configs.lead().catch((error: unknown) => {
      logger.error({ err: error }, 'The config topic could not be claimed; the next write to it tries again');
    });
    if (this.#keys === undefined && sessionKeys !== undefined) {
      this.#keys = new SessionKeys(configs, sessionKeys, logger);
      await this.#keys.keep().catch((error: unknown) => {
        logger.error({ err: error }, 'The session key of the cluster could not be written');
        this.follow();
      });
    }
    this.#sweep().catch((error: unknown) => {
      logger.warn({ reason: toError(error).message }, 'Statuses of what was deleted could not be taken away');
    });
  }

  follow(): void {
    this.#keys?.stop();
    this.#keys = undefined;
    this.#dependencies.configs.follow().catch((error: unknown) => {
      this.#dependencies.logger.warn({ err: error }, 'The producer of the leader could not be closed');
    });
  }

  async #sweep(): Promise<void> {
    const { configs, statuses, statusWriter } = this.#dependencies;
    await statuses.refresh();
    for (const name of statuses.names()) {
      const state = configs.connector(name);
      if (state === undefined) statusWriter.removeConnector(name);
      else {
        for (const [task] of statuses.tasks(name)) {
          if (task >= state.taskConfigs.length) statusWriter.removeTask({ connector: name, task });
        }
      }
    }
  }
}
