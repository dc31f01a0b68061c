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
  /** When a request last changed the level of this logger; `null`: never. */
  readonly lastModifiedMs: number | null;
}

const ROOT = 'root';

/** The fields of a child logger with its name and its connector. */
const LOGGER_FIELD = 'logger';
const CONNECTOR_FIELD = 'connector';

interface Child {
  readonly name: string;
  readonly connector: string | undefined;
  readonly logger: WeakRef<Logger>;
}

/** Accepts any case; `undefined` if the text is not a level. */
export function parseLogLevel(text: string): LogLevel | undefined {
  const name = text.trim().toUpperCase();
  return Object.hasOwn(LEVELS, name) ? (name as LogLevel) : undefined;
}

/**
 * Levels of named loggers, which can be changed while the worker runs (org.apache.kafka.connect.runtime.Loggers). Names
 * are dotted. A level applies to the logger, to all known loggers whose names begin with its name, and to loggers that appear
 * later below it, until one of these gets another level. The name of a logger is the field `logger` of a child; children
 * without this field belong to the root.
 * References to children are weak. Those to children that were garbage-collected are removed when new children are
 * created.
 */
export class LogLevels {
  readonly #root: Logger;
  readonly #explicit = new Map<string, LoggerLevel>();
  readonly #known = new Set<string>([ROOT]);
  /** Levels of single connectors, which take precedence over the levels of logger names. */
  readonly #connectors = new Map<string, LogLevel>();
  #children: Child[] = [];
  #pruneAt = 64;
  readonly #onSet = new Set<(name: string, level: LogLevel) => void>();
  readonly #onConnectorSet = new Set<(connector: string, level: LogLevel | undefined) => void>();
  readonly #onKnown: (name: string) => void;

  /** `onKnown` is called when a logger name is used for the first time. */
  constructor(root: Logger, onKnown: (name: string) => void = () => undefined) {
    this.#root = root;
    this.#onKnown = onKnown;
    this.#explicit.set(ROOT, { level: levelOf(root.level), lastModifiedMs: null });
    root.onChild = (child) => {
      this.#adopt(child);
    };
  }

  /** All loggers, by name. */
  all(): ReadonlyMap<string, LoggerLevel> {
    return new Map([...this.#known].sort().map((name) => [name, this.#effective(name)]));
  }

  /** `undefined` for a name that was neither used nor set. */
  get(name: string): LoggerLevel | undefined {
    const known = internalName(name);
    return this.#known.has(known) ? this.#effective(known) : undefined;
  }

  /** The levels that were set, including that of the root, to initialize a copy of this object. */
  explicit(): [name: string, level: LogLevel][] {
    return [...this.#explicit].map(([name, { level }]) => [name, level]);
  }

  /** Adds the name of a logger that another thread uses. */
  know(name: string): void {
    this.#known.add(name);
  }

  /** `listener` is called for every call of `set`, until the returned function is called. */
  onSet(listener: (name: string, level: LogLevel) => void): () => void {
    this.#onSet.add(listener);
    return () => this.#onSet.delete(listener);
  }

  /** The levels of single connectors. */
  ofConnectors(): [connector: string, level: LogLevel][] {
    return [...this.#connectors];
  }

  /** Sets the level of all lines of a connector, regardless of their logger; `undefined` resets it. */
  setConnector(connector: string, level: LogLevel | undefined): void {
    if (level === undefined) this.#connectors.delete(connector);
    else this.#connectors.set(connector, level);
    this.#apply();
    for (const listener of this.#onConnectorSet) listener(connector, level);
  }

  /** `listener` is called for every call of `setConnector`, until the returned function is called. */
  onConnectorSet(listener: (connector: string, level: LogLevel | undefined) => void): () => void {
    this.#onConnectorSet.add(listener);
    return () => this.#onConnectorSet.delete(listener);
  }

  /** Sets the level of all loggers whose names begin with this name; returns the sorted names of the changed ones. */
  set(name: string, level: LogLevel): string[] {
    const namespace = internalName(name);
    this.#known.add(namespace);
    // As in Java, this compares prefixes of names, not their dotted parts.
    const below = [...this.#known].filter((known) => namespace === ROOT || known.startsWith(namespace));
    const changed = below.filter((known) => this.#effective(known).level !== level);
    const lastModifiedMs = Date.now();
    for (const known of changed) this.#explicit.set(known, { level, lastModifiedMs });
    this.#apply();
    for (const listener of this.#onSet) listener(name, level);
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
    const bindings: Readonly<Record<string, unknown>> = child.bindings();
    const given = bindings[LOGGER_FIELD];
    const name = typeof given === 'string' ? given : ROOT;
    const ofConnector = bindings[CONNECTOR_FIELD];
    const connector = typeof ofConnector === 'string' ? ofConnector : undefined;
    if (!this.#known.has(name)) this.#onKnown(name);
    this.#known.add(name);
    if (this.#children.length >= this.#pruneAt) {
      this.#children = this.#children.filter(({ logger }) => logger.deref() !== undefined);
      this.#pruneAt = Math.max(64, this.#children.length * 2);
    }
    this.#children.push({ name, connector, logger: new WeakRef(child) });
    child.level = this.#levelFor(name, connector);
  }

  #apply(): void {
    this.#root.level = LEVELS[this.#effective(ROOT).level];
    for (const { name, connector, logger } of this.#children) {
      const child = logger.deref();
      if (child !== undefined) child.level = this.#levelFor(name, connector);
    }
  }

  #levelFor(name: string, connector: string | undefined): string {
    const own = connector === undefined ? undefined : this.#connectors.get(connector);
    return LEVELS[own ?? this.#effective(name).level];
  }
}

function internalName(name: string): string {
  return name === '' || name.toLowerCase() === ROOT ? ROOT : name;
}

function levelOf(pinoLevel: string): LogLevel {
  const entry = Object.entries(LEVELS).find(([, name]) => name === pinoLevel);
  return (entry?.[0] as LogLevel | undefined) ?? 'INFO';
}
