import type { LogLevel, LogLevels } from './log-levels.ts';

/** A level that counts for one connector until it expires. */
export interface TemporaryLevel {
  readonly level: LogLevel;
  readonly remainingMs: number;
}

interface Switched {
  readonly level: LogLevel;
  readonly untilMs: number;
  readonly timer: NodeJS.Timeout;
}

const MAX_SWITCHED = 100;

/** Levels of single connectors on this worker, each with its end. */
export class TemporaryLevels {
  readonly #levels: Pick<LogLevels, 'setConnector'>;
  readonly #switched = new Map<string, Switched>();

  constructor(levels: Pick<LogLevels, 'setConnector'>) {
    this.#levels = levels;
  }

  get(connector: string): TemporaryLevel | undefined {
    const found = this.#switched.get(connector);
    return found && { level: found.level, remainingMs: Math.max(0, Math.round(found.untilMs - performance.now())) };
  }

  /** False: there are too many already. */
  set(connector: string, level: LogLevel, forMs: number): boolean {
    if (!this.#switched.has(connector) && this.#switched.size >= MAX_SWITCHED) return false;
    clearTimeout(this.#switched.get(connector)?.timer);
    const timer = setTimeout(() => {
      this.end(connector);
    }, forMs).unref();
    this.#switched.set(connector, { level, untilMs: performance.now() + forMs, timer });
    this.#levels.setConnector(connector, level);
    return true;
  }

  /** Before its time. */
  end(connector: string): void {
    clearTimeout(this.#switched.get(connector)?.timer);
    if (this.#switched.delete(connector)) this.#levels.setConnector(connector, undefined);
  }
}
