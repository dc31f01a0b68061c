import type { Logger, Password } from '../../../src/index.ts';
import {
  DatabaseError,
  isUnavailable,
  openExecutor,
  parseConnectionUrl,
  type Executor,
  type ExecutorOptions,
} from '../../database/index.ts';
import { DatabaseWatch } from './database-watch.ts';
import type { Identity } from './identity.ts';

/** An executor is closed when no request has borrowed it for this long. */
const IDLE_MS = 300_000;

interface Entry {
  readonly executor: Executor;
  lent: number;
  lastUsedAtMs: number;
}

/** A borrowed executor. It is not closed as idle until `giveBack` is called. */
export interface Loan {
  readonly executor: Executor;
  giveBack(): void;
}

export interface ServerAccess {
  readonly url: string;
  readonly defaultDatabase: string;
  /** Password of the user that the URL names. */
  readonly servicePassword: Password | null;
  readonly connectionsPerUser: number;
}

const PROBE_TIMEOUT_MS = 3_000;
/** A user that does not exist. A server that rejects it is reachable. */
const UNKNOWN_USER = 'sluice_probe';

/** Number of executors of this process that do not share connections; it makes their application names unique. */
let freshCount = 0;

/** The executors that run the statements of requests, one for each combination of user, password and database. */
export class UserDatabases {
  readonly #access: ServerAccess;
  readonly #options: Pick<ExecutorOptions, 'logger' | 'onConnect'>;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry>();
  #service: Executor | undefined;

  constructor(access: ServerAccess, logger: Logger, nowMs: () => number) {
    this.#access = access;
    const watch = new DatabaseWatch(logger, Date.now);
    this.#options = { logger, onConnect: (failure) => watch.note(failure) };
    this.#nowMs = nowMs;
  }

  borrow(identity: Identity, database: string): Loan {
    const key = `${identity.key}${database}`;
    const entry = this.#entries.get(key) ?? {
      executor: this.#open(identity, database, this.#access.connectionsPerUser),
      lent: 0,
      lastUsedAtMs: 0,
    };
    this.#entries.set(key, entry);
    entry.lent += 1;
    let isLent = true;
    return {
      executor: entry.executor,
      giveBack: () => {
        if (!isLent) return;
        isLent = false;
        entry.lent -= 1;
        entry.lastUsedAtMs = this.#nowMs();
      },
    };
  }

  /**
   * Opens an executor that shares no connection with others, so that its first statement checks the password. The caller must close
   * it.
   */
  openFresh(identity: Identity, database: string): Executor {
    // Executors with equal settings share their connections, so the application name must be unique.
    return this.#open(identity, database, 1, `sluice login ${String(++freshCount)}`);
  }

  /**
   * Checks whether the server accepts connections. The check ends when the server requests a password; with SCRAM, this leaves no
   * line in the server's log.
   */
  async answers(): Promise<boolean> {
    const { url, defaultDatabase } = this.#access;
    const user = this.service === undefined ? { user: UNKNOWN_USER } : {};
    const settings = {
      ...parseConnectionUrl(url, { ...user, database: defaultDatabase }),
      password: undefined,
      passwordFile: undefined,
      connectTimeoutMs: PROBE_TIMEOUT_MS,
    };
    const executor = openExecutor(
      { ...settings, applicationName: `sluice probe ${String(++freshCount)}` },
      { ...this.#options, poolSize: 1 },
    );
    try {
      await executor.query('SELECT 1');
      return true;
    } catch (error) {
      return error instanceof DatabaseError && !isUnavailable(error);
    } finally {
      await executor.close();
    }
  }

  /** An executor on the default database for the user that the URL names; `undefined` if the URL names no user. */
  get service(): Executor | undefined {
    if (this.#service !== undefined) return this.#service;
    const { url, servicePassword, defaultDatabase } = this.#access;
    try {
      const settings = parseConnectionUrl(url, { password: servicePassword, database: defaultDatabase });
      this.#service = openExecutor(settings, { ...this.#options, poolSize: 1 });
      return this.#service;
    } catch {
      // The URL was validated at start, so this error means that it names no user.
      return undefined;
    }
  }

  /** Closes the connections of a user who may no longer log in. */
  evict(identity: Identity): void {
    for (const [key, { executor }] of this.#entries) {
      if (!key.startsWith(identity.key)) continue;
      this.#entries.delete(key);
      executor
        .close()
        .catch((error: unknown) =>
          this.#options.logger.debug({ err: error }, 'closing the connections of a user failed'),
        );
    }
  }

  /** Closes executors that no request has borrowed for a while. */
  async sweep(): Promise<void> {
    const oldest = this.#nowMs() - IDLE_MS;
    const idle = [...this.#entries].filter(([, entry]) => entry.lent === 0 && entry.lastUsedAtMs < oldest);
    for (const [key] of idle) this.#entries.delete(key);
    await Promise.all(idle.map(([, entry]) => entry.executor.close()));
  }

  async close(): Promise<void> {
    const all = [...this.#entries.values()].map(({ executor }) => executor);
    this.#entries.clear();
    if (this.#service !== undefined) all.push(this.#service);
    this.#service = undefined;
    await Promise.all(all.map((executor) => executor.close()));
  }

  #open(identity: Identity, database: string, poolSize: number, applicationName?: string): Executor {
    const { user, password } = identity;
    const settings = parseConnectionUrl(this.#access.url, { user, password, database });
    return openExecutor(applicationName === undefined ? settings : { ...settings, applicationName }, {
      ...this.#options,
      poolSize,
    });
  }
}
