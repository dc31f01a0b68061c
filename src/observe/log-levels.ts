import type { Logger } from './logger.ts';

/** Java's names of levels, and pino's. */
const LEVELS = {
  OFF: 'silent',
  FATAL: 'fatal',
  ERROR: 'error',
  WARN: 'warn',
  INFO: 'info',
  DEBUG: 'debug',
  TRACE: 'trace',
  ALL: 'trace',
} as const;

export type LogLevel = keyof typeof LEVELS;

export interface LoggerLevel {
  readonly level: LogLevel;
  /** When someone changed it through the API; `null` when nobody did. */
  readonly lastModifiedMs: number | null;
}

const ROOT = 'root';

/** The field by which a child logger says its name. */
const LOGGER_FIELD = 'logger';

/** Any case; `undefined` when it is none. */
export function parseLogLevel(text: string): LogLevel | undefined {
  const name = text.trim().toUpperCase();
  return Object.hasOwn(LEVELS, name) ? (name as LogLevel) : undefined;
}

/**
 * Levels of named loggers while the worker runs (org.apache.kafka.connect.runtime.Loggers). Names are dotted, a level counts
 * for all below it that have none of their own. A logger has its name by the field `logger` of a child, those without one
 * are the root's. Children are held weakly and pruned as they come.
 */
export class LogLevels {
  readonly #root: Logger;
  readonly #explicit = new Map<string, LoggerLevel>();
  readonly #known = new Set<string>([ROOT]);
  #children: { readonly name: string; readonly logger: WeakRef<Logger> }[] = [];
  #pruneAt = 64;

  constructor(root: Logger) {
    this.#root = root;
    this.#explicit.set(ROOT, { level: levelOf(root.level), lastModifiedMs: null });
    root.onChild = (child) => {
      this.#adopt(child);
    };
  }

  /** All loggers there are, by name. */
  all(): ReadonlyMap<string, LoggerLevel> {
    return new Map([...this.#known].sort().map((name) => [name, this.#effective(name)]));
  }

  /** `undefined` for a name that nobody has used or set. */
  get(name: string): LoggerLevel | undefined {
    const known = internalName(name);
    return this.#known.has(known) ? this.#effective(known) : undefined;
  }

  /** Sets a logger and all whose names begin with its name; returns the names of those it changed, sorted. */
  set(name: string, level: LogLevel): string[] {
    const namespace = internalName(name);
    this.#known.add(namespace);
    // Java compares the beginnings of names, not their dotted parts.
    const below = [...this.#known].filter((known) => namespace === ROOT || known.startsWith(namespace));
    const changed = below.filter((known) => this.#effective(known).level !== level);
    const lastModifiedMs = Date.now();
    for (const known of changed) this.#explicit.set(known, { level, lastModifiedMs });
    this.#apply();
    return changed.sort();
  }

  #effective(name: string): LoggerLevel {
    for (let at = name; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
      const found = this.#explicit.get(at);
      if (found !== undefined) return at === name ? found : { ...found, lastModifiedMs: null };
    }
    return { level: this.#explicit.get(ROOT)?.level ?? 'INFO', lastModifiedMs: null };
  }

  #adopt(child: Logger): void {
    const given = child.bindings()[LOGGER_FIELD] as unknown;
    const name = typeof given === 'string' ? given : ROOT;
    this.#known.add(name);
    if (this.#children.length >= this.#pruneAt) {
      this.#children = this.#children.filter(({ logger }) => logger.deref() !== undefined);
      this.#pruneAt = Math.max(64, this.#children.length * 2);
    }
    this.#children.push({ name, logger: new WeakRef(child) });
    child.level = LEVELS[this.#effective(name).level];
  }

  #apply(): void {
    this.#root.level = LEVELS[this.#effective(ROOT).level];
    for (const { name, logger } of this.#children) {
      const child = logger.deref();
      if (child !== undefined) child.level = LEVELS[this.#effective(name).level];
    }
  }
}

function internalName(name: string): string {
  return name === '' || name.toLowerCase() === ROOT ? ROOT : name;
}

function levelOf(pinoLevel: string): LogLevel {
  const entry = Object.entries(LEVELS).find(([, name]) => name === pinoLevel);
  return (entry?.[0] as LogLevel | undefined) ?? 'INFO';
}
