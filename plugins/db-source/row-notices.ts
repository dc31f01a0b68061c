import { quoteIdentifier, quoteTable, toError, type Executor, type Listener, type Logger } from '../../src/index.ts';
import { tableLabel, type SourceTable } from './tables.ts';

const CHANNEL = 'sluice_rows';
const NAME = 'sluice_notify';
const LISTEN_AGAIN_MS = 1_000;

/**
 * Has the database tell of new rows (`notify=true`): a statement trigger on each table notifies with the table's number when a
 * transaction commits. Where it cannot be created, and while no connection listens, rows are found by looking.
 *
 * closed -> listening -> (the connection ends) waiting -> listening … -> closed.
 */
export class RowNotices {
  readonly #executor: Executor;
  readonly #logger: Logger;
  readonly #onRows: (oid: string) => void;
  readonly #onGap: () => void;
  readonly #seen = new Set<string>();
  #listener: Listener | undefined;
  #again: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onRows` is told the number of a table; `onGap` that notices may have been missed. */
  constructor(executor: Executor, logger: Logger, onRows: (oid: string) => void, onGap: () => void) {
    this.#executor = executor;
    this.#logger = logger;
    this.#onRows = onRows;
    this.#onGap = onGap;
  }

  /** Never rejects: a failure is logged and tried again. */
  async listen(): Promise<void> {
    try {
      const listener = await this.#executor.listen(CHANNEL, this.#onRows, () => {
        this.#listener = undefined;
        this.#listenLater();
      });
      if (this.#isClosed) listener.close();
      else {
        this.#listener = listener;
        this.#onGap();
      }
    } catch (error) {
      if (this.#isClosed) return;
      this.#logger.warn(`New rows are not heard of now, they are looked for: ${toError(error).message}`);
      this.#listenLater();
    }
  }

  /** Creates what is missing; tables that were seen before cost nothing. Never rejects for one table. */
  async install(tables: readonly SourceTable[]): Promise<void> {
    for (const table of tables) {
      if (table.oid === undefined || !table.tellsWriter || this.#seen.has(table.oid)) continue;
      this.#seen.add(table.oid);
      try {
        await this.#installOn(table, table.oid);
      } catch (error) {
        this.#logger.warn(
          `Rows of table ${tableLabel(table)} are looked for each poll.interval.ms only, because the trigger ${NAME} cannot be created: ${toError(error).message}`,
        );
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#again);
    this.#listener?.close();
    this.#listener = undefined;
  }

  async #installOn(table: SourceTable, oid: string): Promise<void> {
    const name = `${quoteIdentifier(table.name.schema)}.${NAME}`;
    await this.#executor.session(async (session) => {
      const { rows } = await session.query(
        `SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = $1::oid AND tgname = '${NAME}'`,
        [oid],
      );
      if (rows.length > 0) return;
      await session.transaction(async () => {
        // Two tasks that replace one function at the same time would fail.
        await session.query(`SELECT pg_advisory_xact_lock(hashtextextended('sluice ${NAME}', 0))`);
        await session.query(
          `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_catalog.pg_notify('${CHANNEL}', TG_RELID::text); RETURN NULL; END $$`,
        );
        await session.query(
          `CREATE OR REPLACE TRIGGER ${NAME} AFTER INSERT OR UPDATE ON ${quoteTable(table.name)} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`,
        );
      });
      this.#logger.info(`Created the trigger ${NAME} on table ${tableLabel(table)}`);
    });
  }

  #listenLater(): void {
    if (this.#isClosed) return;
    this.#again = setTimeout(() => void this.listen(), LISTEN_AGAIN_MS);
  }
}
