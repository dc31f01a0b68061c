import type { LogLevel, LogLevels } from './log-levels.ts';

/** The level of one connector, which is reset when it expires. */
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

/** Temporary levels of connectors on this worker. */
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

  /** Returns false if too many levels are set already. */
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

  /** Resets a level before it expires. */
  end(connector: string): void {
    clearTimeout(this.#switched.get(connector)?.timer);
    if (this.#switched.delete(connector)) this.#levels.setConnector(connector, undefined);
  }
}
