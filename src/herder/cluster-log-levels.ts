import { parseLogLevel, type LogLevels } from '../observe/log-levels.ts';
import type { Logger } from '../observe/logger.ts';
import type { HerderListener } from './herder-listener.ts';

/** Applies to this worker the logger levels that were set for the whole cluster. */
export class ClusterLogLevels implements HerderListener {
  readonly #levels: LogLevels;
  readonly #logger: Logger;

  constructor(levels: LogLevels, logger: Logger) {
    this.#levels = levels;
    this.#logger = logger;
  }

  onLoggerLevel(logger: string, text: string): void {
    const level = parseLogLevel(text);
    if (level === undefined) this.#logger.warn(`Ignoring the invalid level ${text} of logger ${logger}`);
    else this.#levels.set(logger, level);
  }
}
