import type { Logger } from '../../../src/observe/logger.ts';
import { ownStatement } from '../sql/own-statement.ts';
import type { Connection } from './connection.ts';

/** Those of before that are still there are not worth remembering more of. */
const MAX_KNOWN = 100;
const TIMEOUT_MS = 5_000;

/**
 * Ends them where they are what they were: of this user and program, and not younger than our connection was, which a process
 * that was given the same number would be. A thousandth is left to clocks that run apart.
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
 * The other ends of connections that broke while something was done on them. A server that the network cut off as well does not
 * know that: it keeps the transaction, and its locks, for hours, and whoever does the work again waits for them.
 */
export class AbandonedBackends {
  readonly #logger: Logger;
  #known: Abandoned[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Takes note of a connection that is dropped, where it may have left something behind. */
  add(connection: Connection): void {
    const { brokeInUse, processId, openedAt, server } = connection;
    if (!brokeInUse || openedAt === undefined) return;
    this.#known = [...this.#known, { ...server, processId, openedAt }].slice(-MAX_KNOWN);
  }

  /** Ends those on the server of this connection. Never rejects: the server may not know how, or not allow it. */
  async end(connection: Connection): Promise<void> {
    const { host, port } = connection.server;
    const isThere = (each: Abandoned): boolean => each.host === host && each.port === port;
    const there = this.#known.filter(isThere);
    if (there.length === 0) return;
    this.#known = this.#known.filter((each) => !isThere(each));
    const now = performance.now();
    const list = there.map(({ processId, openedAt }) => ({ pid: processId, ageMs: now - openedAt }));
    try {
      await connection.ask(END, [JSON.stringify(list)], { timeoutMs: TIMEOUT_MS });
    } catch (error) {
      this.#logger.debug({ err: error }, 'server processes of broken connections could not be ended');
    }
  }
}
