import { DatabaseError, toError } from '../../../src/errors.ts';
import type { Logger } from '../../../src/observe/logger.ts';
import { ownStatement } from '../sql/own-statement.ts';
import type { Connection } from './connection.ts';
import type { ServerAddress } from './connection-url.ts';

export interface SilenceSettings {
  /** A statement without data from the server for this long is checked. */
  readonly silenceMs: number;
  readonly logger: Logger;
  /** Opens a connection to this server only. */
  readonly connect: (server: ServerAddress, signal: AbortSignal) => Promise<Connection>;
}

const QUERY_TIMEOUT_MS = 10_000;
/**
 * Number of consecutive checks with a problem after which a connection is closed. A single problem may coincide with
 * data that is still in transit.
 */
const STRIKES = 2;

/**
 * Selects those of the given backends that wait for the client. Behind a pooler, the PIDs are not those of backends, so
 * no backend is found.
 */
const WAITING_FOR_US = ownStatement(
  'connections: those that wait for us',
  `SELECT pid FROM pg_catalog.pg_stat_activity
  WHERE pid = ANY ($1::int4[]) AND (state LIKE 'idle%' OR wait_event_type = 'Client')`,
);

/**
 * Detects dead connections. If the network drops packets, TCP needs a quarter of an hour to report undeliverable data.
 * Keepalive probes (connect.ts) are not sent while data is undelivered, and a proxy answers them even if it has lost
 * the server. A long silence alone proves nothing, because a statement may run for hours without sending anything.
 *
 * After a long silence, the server is therefore asked on a separate connection. A statement that the server is working
 * on is left alone, no matter how long it takes. A connection is closed if each of two checks in a row finds that the
 * server waits for the client or cannot be reached.
 */
export class SilenceWatch {
  readonly #settings: SilenceSettings;
  readonly #connections: ReadonlySet<Connection>;
  readonly #strikes = new Map<Connection, { readonly since: number; readonly count: number }>();
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  /** Watches the connections in the set between `start` and `stop`. */
  constructor(connections: ReadonlySet<Connection>, settings: SilenceSettings) {
    this.#connections = connections;
    this.#settings = settings;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#check(), this.#settings.silenceMs / 3).unref();
  }

  /** Pauses until the next `start`. */
  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Stops permanently. */
  stop(): void {
    this.rest();
    this.#stopped.abort();
  }

  async #check(): Promise<void> {
    const latest = performance.now() - this.#settings.silenceMs;
    const silent = [...this.#connections].filter((connection) => (connection.silentSince() ?? Infinity) <= latest);
    for (const known of this.#strikes.keys()) if (!silent.includes(known)) this.#strikes.delete(known);
    if (silent.length === 0 || this.#isChecking) return;
    this.#isChecking = true;
    try {
      await Promise.all(byServer(silent).map((connections) => this.#ask(connections)));
    } finally {
      this.#isChecking = false;
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
      // Skips the connection if data has arrived in the meantime, or if another statement runs.
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
    const message = `no data from the server for ${String(seconds)} s: ${reason}`;
    this.#settings.logger.warn(`Closed a connection to the database: ${message}`);
    connection.fail(new DatabaseError(message, { scope: 'infrastructure' }));
  }

  /**
   * Asks the server about the connections. The returned function returns the reason to close a connection, or
   * `undefined` to keep it. Resolves to `undefined` if the server is alive but does not answer the question.
   */
  async #waitingForUs(
    server: ServerAddress,
    connections: readonly Connection[],
  ): Promise<((connection: Connection) => string | undefined) | undefined> {
    let own: Connection | undefined;
    try {
      own = await this.#settings.connect(server, this.#stopped.signal);
      const pids = `{${connections.map(({ processId }) => String(processId)).join(',')}}`;
      const { rows } = await own.ask(WAITING_FOR_US, [pids], { timeoutMs: QUERY_TIMEOUT_MS });
      const waiting = new Set(rows.map(([pid]) => Number(pid)));
      return ({ processId }) =>
        waiting.has(processId) ? 'the server and this process wait for each other' : undefined;
    } catch (thrown) {
      const { scope, sqlstate, message } = asDatabaseError(thrown);
      // A server that refuses the connection is alive.
      if (own !== undefined || scope !== 'infrastructure' || sqlstate !== undefined) return undefined;
      return () => message;
    } finally {
      await own?.close().catch((error: unknown) => {
        this.#settings.logger.debug({ err: error }, 'Closing a database connection failed');
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
