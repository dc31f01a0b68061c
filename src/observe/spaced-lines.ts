import type { Logger } from './logger.ts';

const EVERY_MS = 30_000;

/**
 * Limits the log lines about frequent events that clients or other servers cause. Each kind of event is logged at most
 * once in 30 s, with the number of occurrences since its previous line.
 */
export class SpacedLines {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #kinds = new Map<string, { loggedAtMs: number; since: number }>();

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  /**
   * `fields` and `message` are those of the newest occurrence. `kind`: a constant text; by default the message, which
   * must then be constant.
   */
  log(level: 'warn' | 'error', fields: Readonly<Record<string, unknown>>, message: string, kind = message): void {
    const now = this.#now();
    const known = this.#kinds.get(kind);
    const times = (known?.since ?? 0) + 1;
    if (known !== undefined && now - known.loggedAtMs < EVERY_MS) {
      known.since = times;
      return;
    }
    this.#kinds.set(kind, { loggedAtMs: now, since: 0 });
    this.#logger[level](times > 1 ? { ...fields, times } : fields, message);
  }
}
