import {
  changeProblem,
  DatabaseError,
  isDoneAlready,
  quoteIdentifier,
  splitStatements,
  translateRefusedWith,
  translateWith,
  type DecodedStatement,
  type Executor,
  type Fault,
  type Logger,
  type RunTranslation,
  type Session,
  type StatementOptions,
} from '../../src/index.ts';

/** A statement that the server rolled back for others' sake is run again this often before that counts as a failure. */
const ROLLBACK_RETRIES = 5;
/** Of translations after refusals. */
const MAX_ROUNDS = 3;

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
    const { sql, kind } = statement;
    const problem = changeProblem(sql, kind);
    if (problem !== undefined) return [faultOf(statement, `cdc_db: ${problem}`)];
    try {
      await this.#runTranslated(statement, { signal });
    } catch (error) {
      if (!(error instanceof DatabaseError) || isCallersOwn(error)) throw error;
      if (error.sqlstate === undefined || !isDoneAlready(sql, kind, error.sqlstate)) {
        return [faultOf(statement, error.message, error)];
      }
      this.#logger.info(`A ${kind} statement of ${statement.table ?? 'no table'} is done already: ${error.message}`);
    } finally {
      if (kind !== 'update' && kind !== 'delete') this.#executor.catalogue.forget();
    }
    return [];
  }

  /** The database's own SQL that PostgreSQL alone can tell from its own shows by the refusal; each round changes something. */
  async #runTranslated(statement: DecodedStatement, options: StatementOptions): Promise<void> {
    const { catalogue } = this.#executor;
    let translation = await translateWith(catalogue, this.#database, statementText(statement.sql));
    for (let round = 0; ; round++) {
      if (translation.kind === 'refuse') {
        throw new DatabaseError(translation.message, { scope: 'record', sqlstate: translation.sqlstate });
      }
      if (translation.kind !== 'run') return;
      try {
        await this.#runRetried(translation, statement.schema, options);
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

  async #runRetried(translation: RunTranslation, schema: string | undefined, options: StatementOptions): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#executor.session(async (session) => runIn(session, translation, schema, options), {
          signal: options.signal,
        });
        return;
      } catch (error) {
        if (!(error instanceof DatabaseError) || attempt >= ROLLBACK_RETRIES || !isRollback(error)) throw error;
      }
    }
  }
}

/** Names without a schema are looked up in the message's first. */
async function runIn(
  session: Session,
  { statements, transaction, doneOn }: RunTranslation,
  schema: string | undefined,
  options: StatementOptions,
): Promise<void> {
  if (schema !== undefined && schema !== 'public') {
    await session.query(
      "SELECT set_config('search_path', $1 || ', ' || current_setting('search_path'), false)",
      [quoteIdentifier(schema)],
      options,
    );
  }
  const work = async (): Promise<void> => {
    for (const statement of statements) await session.query(statement, [], options);
  };
  try {
    await (transaction ? session.transaction(work) : work());
  } catch (error) {
    // IF [NOT] EXISTS: what was to be done is done.
    if (doneOn === undefined || !(error instanceof DatabaseError) || error.sqlstate !== doneOn) throw error;
  }
}

function isRollback({ scope, sqlstate }: DatabaseError): boolean {
  return scope === 'infrastructure' && sqlstate?.startsWith('40') === true;
}

/** Missing rights, and a password that is not taken any more, are not the message's fault; nor is a write that was given up. */
function isCallersOwn({ scope, sqlstate = '' }: DatabaseError): boolean {
  return scope === 'infrastructure' || sqlstate === '42501' || sqlstate === '57014' || sqlstate.startsWith('28');
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
