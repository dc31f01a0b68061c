import { setTimeout as delay } from 'node:timers/promises';
import {
  DatabaseError,
  isDenied,
  isRollback,
  isUnavailable,
  type RunTranslation,
  type Session,
} from '../../database/index.ts';
import { audit, isAudited } from '../audit.ts';
import type { ClusterSettings } from './cluster-settings.ts';
import { ApiFailure, type ApiRequest, type StatementFault } from '../route.ts';
import { faultOf } from './statement-fault.ts';
import { failed, refused, success, type StatementOutcome } from './statement-outcome.ts';
import {
  MAX_STATEMENTS,
  readStatements,
  requireFewStatements,
  translateAgain,
  translateIn,
  Turns,
  type RequestStatement,
} from './statement-text.ts';
import { readSqlBody, type SqlBody } from './sql-body.ts';
import type { StatementConnections } from './statement-connections.ts';
import { TEXTS } from '../texts.ts';

/** Maximum number of attempts for a statement that the server rolls back because of other transactions. */
const MAX_TRIES = 10;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;
/** Maximum number of translations after the database refused a statement. */
export const MAX_ROUNDS = 3;

const CHANGES_TABLES: ReadonlySet<string> = new Set(['create', 'alter', 'drop']);

export interface StatementRules {
  /** Reason why the endpoint does not accept the statement; `undefined` if it does. */
  refusal(statement: RequestStatement): string | undefined;
}

/** The results of the statements of one request. */
export interface StatementsRun {
  /** The outcome of each statement, in order. */
  readonly outcomes: readonly StatementOutcome[];
  /** The fault of the first statement that the database refused. */
  readonly fault: StatementFault | undefined;
}

/** Runs the statements of requests. */
export class RequestStatements {
  readonly #connections: StatementConnections;
  readonly #clusterSettings: ClusterSettings;
  readonly #maxLength: number;

  /** `maxLength` limits the text of one statement. */
  constructor(connections: StatementConnections, clusterSettings: ClusterSettings, maxLength: number) {
    this.#connections = connections;
    this.#clusterSettings = clusterSettings;
    this.#maxLength = maxLength;
  }

  /**
   * Runs the statements of one request in order, each in its own transaction, on one connection. A failure does not
   * stop the following statements. `USE` continues with a connection to another database; if `USE` fails, the following
   * statements are refused.
   */
  async run(request: ApiRequest, rules: StatementRules): Promise<StatementsRun> {
    const body = await readSqlBody(request, this.#maxLength);
    const { sql, parameters } = body;
    const runner = new StatementRunner(request, body, rules, this.#connections, this.#clusterSettings);
    const turns = new Turns();
    const most = parameters.length > 0 ? 1 : MAX_STATEMENTS;
    await requireFewStatements(sql, most, this.#maxLength, turns);
    await runner.run(readStatements(sql, this.#maxLength), turns);
    return runner;
  }
}

class StatementRunner implements StatementsRun {
  readonly outcomes: StatementOutcome[] = [];
  fault: StatementFault | undefined;
  readonly #request: ApiRequest;
  readonly #body: SqlBody;
  readonly #rules: StatementRules;
  readonly #connections: StatementConnections;
  readonly #clusterSettings: ClusterSettings;
  #database: string;
  /** Set after a failed USE. The following statements are refused because they were meant for another database. */
  #isLost = false;
  /** The statement that was last sent to the database; empty if the user's statement was translated to several statements. */
  #executed = '';

  constructor(
    request: ApiRequest,
    body: SqlBody,
    rules: StatementRules,
    connections: StatementConnections,
    clusterSettings: ClusterSettings,
  ) {
    this.#request = request;
    this.#body = body;
    this.#rules = rules;
    this.#connections = connections;
    this.#clusterSettings = clusterSettings;
    this.#database = request.database;
  }

  async run(statements: Iterator<RequestStatement | undefined>, turns: Turns): Promise<void> {
    const { clock } = this.#request;
    const advance = async (): Promise<IteratorResult<RequestStatement, unknown>> => {
      for (;;) {
        const next = clock.parse(() => statements.next());
        // Refused statements make no call of the database, so this loop must yield to the event loop explicitly.
        await turns.pause();
        if (next.done === true || next.value !== undefined) return next as IteratorResult<RequestStatement, unknown>;
      }
    };
    let next = await advance();
    while (next.done !== true) {
      try {
        await this.#connections.pinned(this.#request, this.#database, {}, async (session) => {
          const database = this.#database;
          while (next.done !== true && this.#database === database) {
            const outcome = await this.#runOne(session, next.value);
            this.outcomes.push(outcome);
            next = await advance();
            // The connection may be lost, so the following statements get another one.
            if (outcome.verdict === 'unavailable') return;
          }
        });
      } catch (error) {
        // If no statement has run yet, the error is the failure of the whole request.
        if (this.outcomes.length === 0 || this.#request.signal.aborted) throw error;
        if (!(error instanceof DatabaseError) && !(error instanceof ApiFailure)) throw error;
        const outcome = error instanceof DatabaseError ? failed(error) : unreached(error);
        for (; next.done !== true; next = await advance()) this.outcomes.push(outcome);
      }
    }
  }

  async #runOne(session: Session, statement: RequestStatement): Promise<StatementOutcome> {
    const { signal } = this.#request;
    if (signal.aborted) throw new DatabaseError('the client disconnected', { scope: 'caller', sqlstate: '57014' });
    if (this.#isLost) return refused(TEXTS.notUsed(this.#database));
    const database = this.#database;
    const outcome = await this.#tryOne(session, statement);
    const { kind } = statement.classification;
    if (isAudited(kind)) {
      audit(this.#request, { statement: kind, database, succeeded: outcome.verdict === 'success' });
    }
    if (kind === 'use' && outcome.verdict !== 'success') this.#isLost = true;
    return outcome;
  }

  async #tryOne(session: Session, statement: RequestStatement): Promise<StatementOutcome> {
    const refusal = this.#rules.refusal(statement);
    if (refusal !== undefined) return refused(refusal);
    this.#executed = '';
    try {
      const outcome = await this.#carryOut(session, statement.text);
      if (CHANGES_TABLES.has(statement.classification.kind)) {
        this.#request.executorOn(this.#database).catalogue.forget();
      }
      return outcome;
    } catch (error) {
      if (error instanceof DatabaseError) {
        const { sql } = this.#body;
        if (!isUnavailable(error)) this.fault ??= faultOf(error, statement, { sql, executed: this.#executed });
        return failed(error);
      }
      if (error instanceof ApiFailure) return refused(error.message);
      throw error;
    }
  }

  async #carryOut(session: Session, text: string): Promise<StatementOutcome> {
    const translation = await translateIn(this.#database, this.#request, text);
    switch (translation.kind) {
      case 'run':
        return this.#runTranslated(session, translation);
      case 'use':
        await this.#request.executorOn(translation.database).query('SELECT 1');
        this.#database = translation.database;
        return success(0);
      case 'set-cluster-setting':
        await this.#clusterSettings.change(this.#request, translation.name, translation.value);
        return success(0);
      case 'show-cluster-setting':
        return refused(TEXTS.notForDdl);
      case 'refuse':
        return refused(`pq: ${translation.message}`);
    }
  }

  /**
   * Runs a statement. For some statements, only an error of PostgreSQL shows that they are in the SQL dialect of
   * the original database, whose API this service provides (docs/database-api.md). After such an error, the statement is translated further and run again.
   */
  async #runTranslated(session: Session, first: RunTranslation): Promise<StatementOutcome> {
    let translation = first;
    for (let round = 0; ; round++) {
      try {
        return await this.#runRetried(session, translation);
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.sqlstate === undefined || round >= MAX_ROUNDS) throw error;
        if (isDenied(error)) throw withRights(error, translation);
        // The refused text is translated, not the text of the request, so that no translation undoes the previous one.
        const [refusedSql, ...others] = translation.statements;
        if (refusedSql === undefined || others.length > 0) throw error;
        const next = await translateAgain(this.#database, this.#request, refusedSql, error.sqlstate);
        if (next === undefined) throw error;
        if (next.kind === 'refuse') return refused(`pq: ${next.message}`);
        translation = next;
      }
    }
  }

  async #runRetried(session: Session, translation: RunTranslation): Promise<StatementOutcome> {
    const [executed = '', ...others] = translation.statements;
    this.#executed = others.length === 0 ? executed : '';
    for (let tries = 1, pauseMs = FIRST_PAUSE_MS; ; tries++, pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        return success(
          await runTranslation(session, translation, this.#request, this.#body.parameters),
          translation.notices,
        );
      } catch (error) {
        if (!isRolledBack(error) || tries >= MAX_TRIES) throw error;
      }
      await delay(pauseMs, undefined, { signal: this.#request.signal });
    }
  }
}

/** Adds the privileges that the statement needs to the error, because PostgreSQL's message names only the table. */
function withRights(error: DatabaseError, { rights }: RunTranslation): DatabaseError {
  if (rights === undefined || !error.message.startsWith('permission denied for table ')) return error;
  const { scope, sqlstate, cause } = error;
  return new DatabaseError(`${error.message}: ${rights} on it`, { scope, sqlstate, cause });
}

/** Whether the statement was rolled back by a deadlock or serialization failure, so that a retry may succeed. */
function isRolledBack(error: unknown): boolean {
  return error instanceof DatabaseError && isRollback(error);
}

/** Runs the statements of a translation. Resolves with the number of rows that the last one changed. */
async function runTranslation(
  session: Session,
  { statements, transaction, doneOn }: RunTranslation,
  request: ApiRequest,
  parameters: SqlBody['parameters'],
): Promise<number> {
  if (parameters.length > 0 && statements.length > 1) throw new ApiFailure(400, TEXTS.noParameters);
  const options = { signal: request.signal, timeoutMs: request.statementTimeoutMs };
  const work = async (): Promise<number> => {
    let rows = 0;
    for (const statement of statements) rows = (await session.query(statement, parameters, options)).rowCount;
    return rows;
  };
  try {
    return await request.clock.database(() => (transaction ? session.transaction(work) : work()));
  } catch (error) {
    // For IF [NOT] EXISTS, this error means that there is nothing to do. It is handled outside of the transaction that it ended.
    if (doneOn !== undefined && error instanceof DatabaseError && error.sqlstate === doneOn) return 0;
    throw error;
  }
}

const VERDICTS: ReadonlyMap<number, StatementOutcome['verdict']> = new Map([
  [400, 'refused'],
  [503, 'unavailable'],
]);

function unreached(error: ApiFailure): StatementOutcome {
  return { desc: error.message, verdict: VERDICTS.get(error.status) ?? 'failed', rows: 0, notices: [] };
}
