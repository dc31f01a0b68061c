import { DatabaseError, toError } from '../../../src/errors.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import { ownStatement } from '../sql/own-statement.ts';
import type { Connection } from './connection.ts';
import type { ServerAddress } from './connection-url.ts';

export interface SilenceSettings {
  /** A statement that has run this long without a byte from the server is asked after. */
  readonly silenceMs: number;
  readonly logger: Logger;
  /** Opens a connection to that server alone. */
  readonly connect: (server: ServerAddress, signal: AbortSignal) => Promise<Connection>;
}

const QUESTION_TIMEOUT_MS = 10_000;
/** One bad answer may cross with a result on its way. */
const STRIKES = 2;

/** Of these, those that wait for us, who wait for them. A pooler's connections have other numbers: then nothing is known. */
const WAITING_FOR_US = ownStatement(
  'connections: those that wait for us',
  `SELECT pid FROM pg_catalog.pg_stat_activity
  WHERE pid = ANY ($1::int4[]) AND (state LIKE 'idle%' OR wait_event_type = 'Client')`,
);

/**
 * A network that drops packets ends no connection, and TCP takes a quarter of an hour to say so of what it cannot deliver. A
 * statement may rightly run for hours without a word. So a server that was silent for long is asked, on a connection of its own,
 * what it does: a statement that it works on is left alone, however long it takes; a connection on which the server waits
 * for us, or whose server takes no connection any more, is given up.
 *
 * Of a connection: heard -> silent, after `silenceMs` -> (bad answer) doubted -> (another) given up; any -> heard.
 */
export class SilenceWatch {
  readonly #settings: SilenceSettings;
  readonly #connections: ReadonlySet<Connection>;
  readonly #strikes = new Map<Connection, { readonly since: number; readonly count: number }>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;

  /** Watches whatever is in the set, from `start` on and until `stop`. */
  constructor(connections: ReadonlySet<Connection>, settings: SilenceSettings) {
    this.#connections = connections;
    this.#settings = settings;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#look(), this.#settings.silenceMs / 3).unref();
  }

  /** Until it is started again. */
  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** For good. */
  stop(): void {
    this.rest();
    this.#stopped.abort();
  }

  async #look(): Promise<void> {
    const latest = performance.now() - this.#settings.silenceMs;
    const silent = [...this.#connections].filter((connection) => (connection.silentSince() ?? Infinity) <= latest);
    for (const known of this.#strikes.keys()) if (!silent.includes(known)) this.#strikes.delete(known);
    if (silent.length === 0 || this.#isAsking) return;
    this.#isAsking = true;
    try {
      await Promise.all(byServer(silent).map((connections) => this.#ask(connections)));
    } finally {
      this.#isAsking = false;
    }
  }

  /** Never rejects. */
  async #ask(connections: readonly Connection[]): Promise<void> {
    const [first] = connections;
    if (first === undefined) return;
    const since = new Map(connections.map((connection) => [connection, connection.silentSince()]));
    const answer = await this.#waitingForUs(first.server, connections);
    if (this.#stopped.signal.aborted) return;
    for (const connection of connections) {
      const began = since.get(connection);
      // It was heard from in the meantime, or does something else.
      if (began === undefined || connection.silentSince() !== began) continue;
      const reason = answer === undefined ? undefined : answer(connection);
      if (reason === undefined) this.#strikes.delete(connection);
      else this.#strike(connection, began, reason);
    }
  }

  #strike(connection: Connection, since: number, reason: string): void {
    const before = this.#strikes.get(connection);
    const count = before?.since === since ? before.count + 1 : 1;
    this.#strikes.set(connection, { since, count });
    if (count < STRIKES) return;
    this.#strikes.delete(connection);
    const seconds = Math.round((performance.now() - since) / 1000);
    const message = `the server has not been heard from for ${String(seconds)} s: ${reason}`;
    this.#settings.logger.warn(`A connection to the database is given up: ${message}`);
    connection.giveUp(new DatabaseError(message, { scope: 'infrastructure' }));
  }

  /** What speaks against a connection; `undefined` when the server cannot say. */
  async #waitingForUs(
    server: ServerAddress,
    connections: readonly Connection[],
  ): Promise<((connection: Connection) => string | undefined) | undefined> {
    let own: Connection | undefined;
    try {
      own = await this.#settings.connect(server, this.#stopped.signal);
      const pids = `{${connections.map(({ processId }) => String(processId)).join(',')}}`;
      const { rows } = await own.ask(WAITING_FOR_US, [pids], { timeoutMs: QUESTION_TIMEOUT_MS });
      const waiting = new Set(rows.map(([pid]) => Number(pid)));
      return ({ processId }) => (waiting.has(processId) ? 'it waits for this process, which waits for it' : undefined);
    } catch (thrown) {
      const { scope, sqlstate, message } = asDatabaseError(thrown);
      // Whoever refuses is there.
      if (own !== undefined || scope !== 'infrastructure' || sqlstate !== undefined) return undefined;
      return () => message;
    } finally {
      await own?.close().catch((error: unknown) => {
        this.#settings.logger.debug({ err: error }, 'closing a database connection failed');
      });
    }
  }
}

function byServer(connections: readonly Connection[]): Connection[][] {
  const groups = new Map<string, Connection[]>();
  for (const connection of connections) {
    const key = `${connection.server.host} ${String(connection.server.port)}`;
    groups.set(key, [...(groups.get(key) ?? []), connection]);
  }
  return [...groups.values()];
}

function asDatabaseError(thrown: unknown): DatabaseError {
  if (thrown instanceof DatabaseError) return thrown;
  return new DatabaseError(toError(thrown).message, { scope: 'infrastructure', cause: thrown });
}
