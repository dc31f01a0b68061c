import type { Logger } from '../../src/index.ts';
import {
  changeProblem,
  DatabaseError,
  isCancelled,
  isDenied,
  isAlreadyApplied,
  isLoginRefused,
  qualifiedStatement,
  quoteIdentifier,
  retryRolledBack,
  ROLLBACK_RETRIES,
  splitStatements,
  translateRefusedWith,
  translateWith,
  type DecodedStatement,
  type Executor,
  type Fault,
  type RunTranslation,
  type Session,
  type StatementOptions,
  type Transaction,
} from '../database/index.ts';

/** Maximum number of times that a refused statement is translated further and run again. */
const MAX_ROUNDS = 3;

/** Thrown if the server runs the statement only outside a transaction (CREATE DATABASE, CREATE INDEX CONCURRENTLY). */
export class NeedsNoTransaction extends Error {
  readonly statement: DecodedStatement;

  constructor(statement: DecodedStatement, cause: unknown) {
    super('the statement cannot run inside a transaction', { cause });
    this.statement = statement;
  }
}

/** SQLSTATE active_sql_transaction. */
const IN_TRANSACTION = '25001';

/** Runs statements: an executor, or one of its transactions. */
type StatementTarget = Pick<Executor, 'catalogue' | 'session'>;

/**
 * Runs the statements of cdc_db messages, unchanged or translated from the database's own SQL
 * (`CREATE TABLE … TAGS (…)`). A statement whose effect already exists, because of an earlier delivery, counts as
 * successful.
 */
export class ChangeRunner {
  readonly #executor: Executor;
  readonly #database: string;
  readonly #logger: Logger;

  constructor(executor: Executor, database: string, logger: Logger) {
    this.#executor = executor;
    this.#database = database;
    this.#logger = logger;
  }

  /**
   * Returns one fault if the statement was refused, otherwise none. Rejects with errors that the message did not cause;
   * their scope is `infrastructure` if a retry may succeed.
   */
  async run(statement: DecodedStatement, signal: AbortSignal): Promise<readonly Fault[]> {
    return this.#run(this.#executor, statement, signal);
  }

  /** Like `run`, in a transaction. Rejects with NeedsNoTransaction if the server does not permit that. */
  async runWithin(
    transaction: Transaction,
    statement: DecodedStatement,
    signal: AbortSignal,
  ): Promise<readonly Fault[]> {
    return this.#run(transaction, statement, signal);
  }

  async #run(target: StatementTarget, statement: DecodedStatement, signal: AbortSignal): Promise<readonly Fault[]> {
    const { sql, kind } = statement;
    const problem = changeProblem(sql, kind);
    if (problem !== undefined) return [faultOf(statement, `cdc_db: ${problem}`)];
    try {
      await this.#runTranslated(target, statement, { signal });
    } catch (error) {
      if (!(error instanceof DatabaseError) || isUnrelatedToMessage(error)) throw error;
      if (target !== this.#executor && error.sqlstate === IN_TRANSACTION)
        throw new NeedsNoTransaction(statement, error);
      if (error.sqlstate === undefined || !isAlreadyApplied(sql, kind, error.sqlstate)) {
        return [faultOf(statement, error.message, error)];
      }
      this.#logger.info(
        `Skipped a ${kind} statement for ${statement.table ?? 'no table'} that was applied before: ${error.message}`,
      );
    } finally {
      if (kind !== 'update' && kind !== 'delete' && kind !== 'truncate') target.catalogue.forget();
    }
    return [];
  }

  /**
   * Translates and runs a statement. Some statements in the database's own SQL are recognized only by the error that
   * PostgreSQL returns for them. After such an error, the refused text is translated further and run again.
   */
  async #runTranslated(target: StatementTarget, statement: DecodedStatement, options: StatementOptions): Promise<void> {
    const { catalogue } = target;
    let translation = await translateWith(catalogue, this.#database, statementText(statement.sql));
    for (let round = 0; ; round++) {
      if (translation.kind === 'refuse') {
        throw new DatabaseError(translation.message, { scope: 'record', sqlstate: translation.sqlstate });
      }
      if (translation.kind !== 'run') return;
      try {
        await this.#runRetried(target, translation, statement.schema, options);
        return;
      } catch (error) {
        const [refusedSql, ...others] = translation.statements;
        const mayTranslate = error instanceof DatabaseError && round < MAX_ROUNDS && others.length === 0;
        if (!mayTranslate || error.sqlstate === undefined || refusedSql === undefined) throw error;
        const next = await translateRefusedWith(catalogue, this.#database, refusedSql, error.sqlstate);
        if (next === undefined) throw error;
        translation = next;
      }
    }
  }

  async #runRetried(
    target: StatementTarget,
    translation: RunTranslation,
    schema: string | undefined,
    options: StatementOptions,
  ): Promise<void> {
    // Inside a transaction, the statement is not retried alone, because the whole transaction has to be repeated.
    const isWithin = target !== this.#executor;
    await retryRolledBack(isWithin ? 0 : ROLLBACK_RETRIES, () =>
      target.session(async (session) => runIn(session, translation, { ...options, schema, isWithin }), {
        signal: options.signal,
      }),
    );
  }
}

const PREPEND_SCHEMA = qualifiedStatement(
  'cdc_db: schema of the message',
  `SELECT pg_catalog.set_config('search_path',
    pg_catalog.concat($1::pg_catalog.text, ', ', pg_catalog.current_setting('search_path')), $2::pg_catalog.bool)`,
);

/**
 * Runs the statements. Unqualified names are looked up in the message's schema first. The search path is local to a
 * transaction, unless the server does not run the statement in one. If such a statement needs a search path, it is
 * refused behind a pooler: it might run in another backend than the one whose path was set, and other clients would use
 * that path.
 */
async function runIn(
  session: Session,
  { statements, transaction, doneOn }: RunTranslation,
  { schema, isWithin, ...options }: StatementOptions & { schema: string | undefined; isWithin: boolean },
): Promise<void> {
  const prepended = schema === undefined || schema === 'public' ? undefined : quoteIdentifier(schema);
  const work = async (isLocal: boolean): Promise<void> => {
    if (prepended !== undefined) await session.query(PREPEND_SCHEMA, [prepended, String(isLocal)], options);
    for (const statement of statements) await session.query(statement, [], options);
  };
  const workLocally = (): Promise<void> => work(true);
  const needsTransaction = isWithin ? transaction || doneOn !== undefined : transaction || prepended !== undefined;
  try {
    // A nested transaction keeps an error that counts as success from aborting the surrounding transaction.
    await (needsTransaction ? session.transaction(workLocally) : workLocally());
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const runsAlone = error.sqlstate === IN_TRANSACTION && !isWithin && !transaction && prepended !== undefined;
    if (runsAlone && !session.keepsSettings) throw needsDirectConnection(prepended, error);
    if (runsAlone) await work(false);
    // With IF [NOT] EXISTS, this error means that the desired state already exists.
    else if (doneOn === undefined || error.sqlstate !== doneOn) throw error;
  }
  // Subsequent writes of the transaction use the regular search path.
  if (prepended !== undefined && isWithin) await session.query('RESET search_path', [], options);
}

function needsDirectConnection(schema: string, cause: DatabaseError): DatabaseError {
  return new DatabaseError(
    `the statement cannot run inside a transaction, and behind a connection pooler the schema ${schema} of the message cannot be set outside of one; name the server itself in connection.url`,
    { scope: 'record', sqlstate: IN_TRANSACTION, cause },
  );
}

/**
 * Returns true if the message did not cause the error: unavailable database, missing privileges, rejected credentials,
 * aborted writes.
 */
function isUnrelatedToMessage(error: DatabaseError): boolean {
  return error.scope === 'infrastructure' || isDenied(error) || isCancelled(error) || isLoginRefused(error);
}

function statementText(sql: string): string {
  const [first] = splitStatements(sql);
  return first?.text ?? sql;
}

function faultOf({ origin, table }: DecodedStatement, message: string, error?: DatabaseError): Fault {
  const scope = 'record';
  return { scope, message, origin, table, column: error?.column, sqlstate: error?.sqlstate, cause: error };
}
