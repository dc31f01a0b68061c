import { toError, type Logger } from '../../src/index.ts';
import {
  DatabaseError,
  isDenied,
  isUnsupported,
  ownStatement,
  ownStatementOn,
  quoteIdentifier,
  quoteLiteral,
  quoteTable,
  type Executor,
  type Listener,
  type Session,
} from '../database/index.ts';
import type { TimeRange } from './notified-ranges.ts';
import { tableLabel, type SourceTable } from './tables.ts';

const CHANNEL = 'sluice_rows';
const NAME = 'sluice_notify';
const LISTEN_AGAIN_MS = 1_000;

/** Name of the transition table in the trigger function. */
const INSERTED = 'sluice_inserted';
/** Payload: the OID of the table; for inserted rows, also the lowest and highest time, the transaction, and the column. */
const PAYLOAD = /^(\d{1,10})(?: (-?\d{1,19}) (-?\d{1,19}) (\d{1,19}) (.{1,255}))?$/s;

/** Returns the arguments of a trigger (the columns whose times it reports), and whether it has a transition table. */
const FIND_TRIGGER = ownStatement(
  'notices: look for the trigger',
  `SELECT encode(tgargs, 'hex'), (tgnewtable IS NOT NULL)::text FROM pg_catalog.pg_trigger
  WHERE tgrelid = $1::oid AND tgname = '${NAME}'`,
);
/** Prevents two tasks from replacing the same function concurrently, which would fail. */
const LOCK = ownStatement('notices: lock', `SELECT pg_advisory_xact_lock(hashtextextended('sluice ${NAME}', 0))`);
/**
 * The trigger function runs in the transaction that writes the rows and must not cause it to fail. A notification
 * includes the range of times only if the earliest time is more than a second before the start of the transaction. The
 * times are rounded to seconds or minutes, so that a transaction with many statements sends few distinct notifications.
 */
const createFunction = ownStatementOn(
  'notices: create the function',
  (name = '') => `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
    DECLARE
      low numeric; high numeric; step numeric;
      started numeric := pg_catalog.date_part('epoch', pg_catalog.now())::pg_catalog.numeric;
    BEGIN
      FOR i IN 0 .. TG_NARGS - 1 LOOP
        BEGIN
          EXECUTE pg_catalog.format('SELECT extract(epoch FROM min(%1$I))::numeric, extract(epoch FROM max(%1$I))::numeric
            FROM ${INSERTED} WHERE %1$I > ''-infinity'' AND %1$I < ''infinity'' ', TG_ARGV[i]) INTO low, high;
          IF low < started - 1 THEN
            step := CASE WHEN low < started - 3600 THEN 60 ELSE 1 END;
            PERFORM pg_catalog.pg_notify('${CHANNEL}', pg_catalog.concat_ws(' ', TG_RELID,
              (pg_catalog.floor(low / step) * step * 1000000)::pg_catalog.int8,
              ((pg_catalog.floor(high / step) + 1) * step * 1000000)::pg_catalog.int8,
              pg_catalog.pg_current_xact_id(), TG_ARGV[i]));
          END IF;
        EXCEPTION WHEN OTHERS THEN NULL;
        END;
      END LOOP;
      PERFORM pg_catalog.pg_notify('${CHANNEL}', TG_RELID::pg_catalog.text);
      RETURN NULL;
    END $$`,
);
const createTrigger = ownStatementOn(
  'notices: create the trigger',
  (name = '', table = '') =>
    `CREATE OR REPLACE TRIGGER ${NAME} AFTER INSERT OR UPDATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`,
);
/** A trigger with a transition table can only have one event. */
const createInsertTrigger = ownStatementOn(
  'notices: create the trigger that reports times',
  (name = '', table = '', columns = '') =>
    `CREATE OR REPLACE TRIGGER ${NAME} AFTER INSERT ON ${table} REFERENCING NEW TABLE AS ${INSERTED}
    FOR EACH STATEMENT EXECUTE FUNCTION ${name}(${columns})`,
);
const createUpdateTrigger = ownStatementOn(
  'notices: create the trigger of updates',
  (name = '', table = '') =>
    `CREATE OR REPLACE TRIGGER ${NAME}_update AFTER UPDATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`,
);

/** A table on which triggers are created. */
export interface NoticedTable {
  readonly table: SourceTable;
  /** The column whose times are included in notifications of inserted rows, if any. */
  readonly column: string | undefined;
}

export interface RowNotice {
  /** OID of the table. */
  readonly oid: string;
  /** The time range of inserted rows, by their values in `column`; `undefined` if the notification contains no times. */
  readonly inserted: { readonly column: string; readonly range: TimeRange } | undefined;
}

/** Parses a notification. Returns `undefined` for an unknown payload, because other users may also send notifications. */
function parseNotice(payload: string): RowNotice | undefined {
  const [, oid, low, high, transaction, column] = PAYLOAD.exec(payload) ?? [];
  if (oid === undefined) return undefined;
  if (low === undefined || high === undefined || transaction === undefined || column === undefined) {
    return { oid, inserted: undefined };
  }
  const range = { low: BigInt(low), high: BigInt(high), transaction: BigInt(transaction) };
  return { oid, inserted: { column, range } };
}

/**
 * Subscribes to notifications about new rows (`notify=true`). Statement triggers on each table send the OID of the
 * table. If inserted rows may be late, they also send the times of these rows, so that late rows are also read.
 * PostgreSQL delivers the notifications when the transaction commits. Rows are found by polling if a trigger cannot be
 * created, and while no connection listens.
 *
 * closed -> listening -> (the connection ends) waiting -> listening … -> closed
 */
export class RowNotices {
  readonly #executor: Executor;
  readonly #logger: Logger;
  readonly #onRows: (notice: RowNotice) => void;
  readonly #onGap: () => void;
  readonly #seen = new Set<string>();
  #listener: Listener | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `onRows` receives each table with new rows; `onGap` is called when notifications may have been missed. */
  constructor(executor: Executor, logger: Logger, onRows: (notice: RowNotice) => void, onGap: () => void) {
    this.#executor = executor;
    this.#logger = logger;
    this.#onRows = onRows;
    this.#onGap = onGap;
  }

  /** Starts listening. Never rejects; a failure is logged and retried. */
  async listen(): Promise<void> {
    try {
      const onNotification = (payload: string) => {
        const notice = parseNotice(payload);
        if (notice !== undefined) this.#onRows(notice);
      };
      const listener = await this.#executor.listen(CHANNEL, onNotification, () => {
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
      this.#logger.warn(
        `Notifications of new rows are not available; checking for new rows every poll.interval.ms instead: ${toError(error).message}`,
      );
      this.#listenLater();
    }
  }

  /** Creates missing triggers, except on tables of earlier calls. A failure of a single table is logged and does not reject. */
  async install(tables: readonly NoticedTable[]): Promise<void> {
    for (const { table, column } of tables) {
      const key = `${table.oid ?? ''} ${column ?? ''}`;
      if (table.oid === undefined || !table.hasXmin || this.#seen.has(key)) continue;
      this.#seen.add(key);
      try {
        await this.#installOn(table, table.oid, column);
      } catch (error) {
        this.#logger.warn(
          `New rows of table ${tableLabel(table)} are only found every poll.interval.ms, because the trigger ${NAME} cannot be created: ${toError(error).message}`,
        );
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#listener?.close();
    this.#listener = undefined;
  }

  async #installOn(table: SourceTable, oid: string, column: string | undefined): Promise<void> {
    await this.#executor.session(async (session) => {
      const found = await findTrigger(session, oid);
      if (found !== undefined && (column === undefined || found.columns.includes(column))) return;
      if (column !== undefined) {
        try {
          await this.#create(session, table, oid, column);
          return;
        } catch (error) {
          if (!(error instanceof DatabaseError)) throw error;
          if (!isUnsupported(error) && (found === undefined || !isDenied(error))) throw error;
          this.#logger.info(
            `Rows of table ${tableLabel(table)} that are older than timestamp.delay.ms when inserted are not read, because the trigger ${NAME} cannot report their times: ${toError(error).message}`,
          );
          if (found !== undefined) return;
        }
      }
      await this.#create(session, table, oid, undefined);
    });
  }

  /**
   * Creates the triggers of a table. A new trigger also reports the columns that the existing trigger reports, because
   * other sources may need them.
   */
  async #create(session: Session, table: SourceTable, oid: string, column: string | undefined): Promise<void> {
    const name = `${quoteIdentifier(table.name.schema)}.${NAME}`;
    const on = quoteTable(table.name);
    await session.transaction(async () => {
      await session.ask(LOCK);
      await session.ask(createFunction(name));
      if (column === undefined) {
        await session.ask(createTrigger(name, on));
        return;
      }
      const others = (await findTrigger(session, oid))?.columns ?? [];
      const columns = [...new Set([...others.filter((other) => hasColumn(table, other)), column])];
      await session.ask(createInsertTrigger(name, on, columns.map(quoteLiteral).join(', ')));
      await session.ask(createUpdateTrigger(name, on));
    });
    this.#logger.info(`Created the trigger ${NAME} on table ${tableLabel(table)}`);
  }

  #listenLater(): void {
    if (this.#isClosed) return;
    this.#retryTimer = setTimeout(() => void this.listen(), LISTEN_AGAIN_MS);
  }
}

/** Finds the trigger of a table with the columns whose times it reports; `undefined` if there is no trigger. */
async function findTrigger(session: Session, oid: string): Promise<{ columns: string[] } | undefined> {
  const [row] = (await session.ask(FIND_TRIGGER, [oid])).rows;
  if (row === undefined) return undefined;
  const [texts, reportsTimes] = row;
  const columns = Buffer.from(texts ?? '', 'hex')
    .toString()
    .split('\0')
    .slice(0, -1);
  return { columns: reportsTimes === 'true' ? columns : [] };
}

function hasColumn({ columns }: SourceTable, name: string): boolean {
  return columns.some((column) => column.name === name);
}
