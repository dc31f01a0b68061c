import type { Logger } from '../../../src/observe/logger.ts';
import { ownStatement } from '../sql/own-statement.ts';
import type { Connection } from './connection.ts';

/** Upper limit; beyond it, the oldest abandoned backends are forgotten. */
const MAX_KNOWN = 100;
const TIMEOUT_MS = 5_000;

/**
 * Terminates the abandoned backends. A process is terminated only if it has this user and application name and is at
 * least as old as the abandoned connection; a younger process has merely reused the pid of the abandoned backend. The
 * comparison of the ages tolerates a clock drift of one thousandth and a delay of 100 ms.
 */
const END = ownStatement(
  'connections: end abandoned ones',
  `SELECT pg_terminate_backend(s.pid) FROM pg_catalog.pg_stat_activity s
  JOIN json_to_recordset($1::json) AS b (pid int4, "ageMs" float8) ON s.pid = b.pid
  WHERE s.usename = current_user AND s.application_name = current_setting('application_name')
    AND clock_timestamp() - s.backend_start >= (b."ageMs" * 0.999 - 100) * interval '1 ms'`,
);

interface Abandoned {
  readonly host: string;
  readonly port: number;
  readonly processId: number;
  readonly openedAt: number;
}

/**
 * Server processes of connections that broke while in use. If the network failed in both directions, the server does
 * not notice that the client is gone: it keeps the transaction and its locks for hours, which blocks a retry of the
 * same work.
 */
export class AbandonedBackends {
  readonly #logger: Logger;
  #known: Abandoned[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Remembers a dropped connection if its backend may still hold a transaction. */
  add(connection: Connection): void {
    const { brokeInUse, processId, openedAt, server } = connection;
    if (!brokeInUse || openedAt === undefined) return;
    this.#known = [...this.#known, { ...server, processId, openedAt }].slice(-MAX_KNOWN);
  }

  /**
   * Terminates the abandoned backends on the server of this connection. Never rejects, even if the user may not
   * terminate backends.
   */
  async end(connection: Connection): Promise<void> {
    const { host, port } = connection.server;
    const isOnServer = (each: Abandoned): boolean => each.host === host && each.port === port;
    const abandoned = this.#known.filter(isOnServer);
    if (abandoned.length === 0) return;
    this.#known = this.#known.filter((each) => !isOnServer(each));
    const now = performance.now();
    const list = abandoned.map(({ processId, openedAt }) => ({ pid: processId, ageMs: now - openedAt }));
    try {
      await connection.ask(END, [JSON.stringify(list)], { timeoutMs: TIMEOUT_MS });
    } catch (error) {
      this.#logger.debug({ err: error }, 'Server processes of broken connections could not be terminated');
    }
  }
}
