import type { Logger } from '../../src/index.ts';
import {
  changeProblem,
  DatabaseError,
  isCancelled,
  isDenied,
  isDoneAlready,
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

/** Of translations after refusals. */
const MAX_ROUNDS = 3;

/** The server does this statement only by itself (CREATE DATABASE, CREATE INDEX CONCURRENTLY). */
export class NeedsNoTransaction extends Error {
  readonly statement: DecodedStatement;

  constructor(statement: DecodedStatement, cause: unknown) {
    super('the statement bears no transaction', { cause });
    this.statement = statement;
  }
}

/** SQLSTATE active_sql_transaction. */
const IN_TRANSACTION = '25001';

/** Where statements run: an executor, or one transaction of it. */
type Place = Pick<Executor, 'catalogue' | 'session'>;

/**
 * Runs the statements of cdc_db messages: as they are, and in the database's own SQL where that is what they are written in
 * (`CREATE TABLE … TAGS (…)`). What is delivered a second time, and done already, is done.
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

  /** Why the statement was not run or not done, as a fault. Rejects, with scope `infrastructure`, when that may change. */
  async run(statement: DecodedStatement, signal: AbortSignal): Promise<readonly Fault[]> {
    return this.#run(this.#executor, statement, signal);
  }

  /** The same among the writes of a transaction. Rejects with NeedsNoTransaction where the server does not allow that. */
  async runWithin(
    transaction: Transaction,
    statement: DecodedStatement,
    signal: AbortSignal,
  ): Promise<readonly Fault[]> {
    return this.#run(transaction, statement, signal);
  }

  async #run(place: Place, statement: DecodedStatement, signal: AbortSignal): Promise<readonly Fault[]> {
    const { sql, kind } = statement;
    const problem = changeProblem(sql, kind);
    if (problem !== undefined) return [faultOf(statement, `cdc_db: ${problem}`)];
    try {
      await this.#runTranslated(place, statement, { signal });
    } catch (error) {
      if (!(error instanceof DatabaseError) || isCallersOwn(error)) throw error;
      if (place !== this.#executor && error.sqlstate === IN_TRANSACTION) throw new NeedsNoTransaction(statement, error);
      if (error.sqlstate === undefined || !isDoneAlready(sql, kind, error.sqlstate)) {
        return [faultOf(statement, error.message, error)];
      }
      this.#logger.info(`A ${kind} statement of ${statement.table ?? 'no table'} is done already: ${error.message}`);
    } finally {
      if (kind !== 'update' && kind !== 'delete') place.catalogue.forget();
    }
    return [];
  }

  /** The database's own SQL that PostgreSQL alone can tell from its own shows by the refusal; each round changes something. */
  async #runTranslated(place: Place, statement: DecodedStatement, options: StatementOptions): Promise<void> {
    const { catalogue } = place;
    let translation = await translateWith(catalogue, this.#database, statementText(statement.sql));
    for (let round = 0; ; round++) {
      if (translation.kind === 'refuse') {
        throw new DatabaseError(translation.message, { scope: 'record', sqlstate: translation.sqlstate });
      }
      if (translation.kind !== 'run') return;
      try {
        await this.#runRetried(place, translation, statement.schema, options);
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
    place: Place,
    translation: RunTranslation,
    schema: string | undefined,
    options: StatementOptions,
  ): Promise<void> {
    // A transaction is done again as a whole.
    const isWithin = place !== this.#executor;
    await retryRolledBack(isWithin ? 0 : ROLLBACK_RETRIES, () =>
      place.session(async (session) => runIn(session, translation, { ...options, schema, isWithin }), {
        signal: options.signal,
      }),
    );
  }
}

const LOOK_THERE_FIRST = qualifiedStatement(
  'cdc_db: schema of the message',
  `SELECT pg_catalog.set_config('search_path',
    pg_catalog.concat($1::pg_catalog.text, ', ', pg_catalog.current_setting('search_path')), false)`,
);

/** Names without a schema are looked up in the message's first. */
async function runIn(
  session: Session,
  { statements, transaction, doneOn }: RunTranslation,
  { schema, isWithin, ...options }: StatementOptions & { schema: string | undefined; isWithin: boolean },
): Promise<void> {
  const looksElsewhere = schema !== undefined && schema !== 'public';
  if (looksElsewhere) {
    await session.query(LOOK_THERE_FIRST, [quoteIdentifier(schema)], options);
  }
  const work = async (): Promise<void> => {
    for (const statement of statements) await session.query(statement, [], options);
  };
  try {
    // Where one failure is as good as success, it must not spoil the transaction around it.
    await (transaction || (isWithin && doneOn !== undefined) ? session.transaction(work) : work());
  } catch (error) {
    // IF [NOT] EXISTS: what was to be done is done.
    if (doneOn === undefined || !(error instanceof DatabaseError) || error.sqlstate !== doneOn) throw error;
  }
  // Writes behind it in a transaction find their tables where all others do.
  if (looksElsewhere) await session.query('RESET search_path', [], options);
}

/** Missing rights, and a password that is not taken any more, are not the message's fault; nor is a write that was given up. */
function isCallersOwn(error: DatabaseError): boolean {
  return error.scope === 'infrastructure' || isDenied(error) || isCancelled(error) || isLoginRefused(error);
}

/** Without its semicolon, and what may stand behind that. */
function statementText(sql: string): string {
  const [first] = splitStatements(sql);
  return first?.text ?? sql;
}

function faultOf({ origin, table }: DecodedStatement, message: string, error?: DatabaseError): Fault {
  const scope = 'record';
  return { scope, message, origin, table, column: error?.column, sqlstate: error?.sqlstate, cause: error };
}
