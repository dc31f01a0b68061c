import {
  arrayOf,
  component,
  INTEGER,
  literalOf,
  nullable,
  NUMBER,
  objectOf,
  TEXT,
  type ShapeOf,
} from '../../../src/index.ts';
import { DATABASE, json } from '../open-api/shared-schemas.ts';
import { type ApiAnswer, type FailureForm, jsonAnswer, type MethodRoute } from '../route.ts';
import { ZONE } from '../time-zone.ts';
import { sqlBody, STATEMENT } from './sql-body.ts';
import { faultHeaders } from './statement-fault.ts';
import { statusOf, type StatementOutcome } from './statement-outcome.ts';
import type { RequestStatements, StatementRules, StatementsRun } from './statement-runner.ts';
import { TEXTS } from '../texts.ts';

const DDL_KINDS: ReadonlySet<string> = new Set([
  'create',
  'drop',
  'delete',
  'use',
  'alter',
  'update',
  'grant',
  'revoke',
  // The original database (docs/database-api.md) accepts this statement on no endpoint, although its documentation uses it.
  'set-cluster-setting',
  'no-statement',
]);

const ddlRules: StatementRules = {
  refusal: ({ classification }) => (DDL_KINDS.has(classification.kind) ? undefined : TEXTS.notForDdl),
};

const insertRules: StatementRules = {
  refusal: ({ classification }) => {
    const { kind, keyword } = classification;
    const isTaken = (kind === 'insert' && keyword === 'insert') || kind === 'use' || kind === 'no-statement';
    return isTaken ? undefined : TEXTS.notForInsert;
  },
};

const OUTCOME = { code: literalOf(0, -1), desc: arrayOf(TEXT), time: nullable(NUMBER) };
const DDL = component('Ddl', objectOf(OUTCOME));
const INSERT = component('Insert', objectOf({ ...OUTCOME, rows: nullable(INTEGER), notice: nullable(TEXT) }));

const DDL_FAILURE: FailureForm = {
  schema: DDL,
  answer: ({ status, message }) => jsonAnswer<ShapeOf<typeof DDL>>(status, { code: -1, desc: [message], time: null }),
};

const INSERT_FAILURE: FailureForm = {
  schema: INSERT,
  answer: ({ status, message }) =>
    jsonAnswer<ShapeOf<typeof INSERT>>(status, { code: -1, desc: [message], rows: null, notice: null, time: null }),
};

/** `POST /restapi/ddl`: CREATE, DROP, DELETE, USE, ALTER, UPDATE, GRANT, REVOKE and SET CLUSTER SETTING. */
export function ddlRoute(statements: RequestStatements): MethodRoute {
  return {
    method: 'POST',
    path: '/restapi/ddl',
    summary: 'Run statements that define, change or delete, each in its own transaction',
    tag: 'SQL',
    query: { db: DATABASE, tz: ZONE },
    body: sqlBody(STATEMENT, 'create table if not exists described (a int)'),
    answers: { 200: json(DDL), 500: json(DDL) },
    failure: DDL_FAILURE,
    handle: async (request) => {
      const { startedAt } = request.clock;
      const run = await statements.run(request, ddlRules);
      const time = seconds(startedAt);
      return answer<ShapeOf<typeof DDL>>(run, (ok) => ({
        code: ok ? 0 : -1,
        desc: descs(run.outcomes),
        time: ok ? time : null,
      }));
    },
  };
}

/** `POST /restapi/insert`: INSERT and USE. */
export function insertRoute(statements: RequestStatements): MethodRoute {
  return {
    method: 'POST',
    path: '/restapi/insert',
    summary: 'Run INSERT statements, each in its own transaction',
    tag: 'SQL',
    query: { db: DATABASE, tz: ZONE },
    body: sqlBody(STATEMENT, 'insert into described values (1)'),
    answers: { 200: json(INSERT), 500: json(INSERT) },
    failure: INSERT_FAILURE,
    handle: async (request) => {
      const { startedAt } = request.clock;
      const run = await statements.run(request, insertRules);
      const time = seconds(startedAt);
      return answer<ShapeOf<typeof INSERT>>(run, (ok) => ({
        code: ok ? 0 : -1,
        desc: descs(run.outcomes),
        rows: ok ? rowCount(run.outcomes) : null,
        notice: notice(run.outcomes),
        time: ok ? time : null,
      }));
    },
  };
}

function answer<T>({ outcomes, fault }: StatementsRun, body: (ok: boolean) => T): ApiAnswer {
  const status = statusOf(outcomes);
  const faults = outcomes.filter(({ verdict }) => verdict !== 'success').length;
  return {
    ...jsonAnswer(status, body(status === 200), {
      ...faultHeaders(fault),
      ...(status === 503 ? { 'Retry-After': '5' } : {}),
    }),
    tally: () => ({ rows: rowCount(outcomes), faults }),
  };
}

function descs(outcomes: readonly StatementOutcome[]): readonly string[] {
  return outcomes.map(({ desc }) => desc);
}

function rowCount(outcomes: readonly StatementOutcome[]): number {
  return outcomes.reduce((sum, { rows }) => sum + rows, 0);
}

/**
 * Messages about successful statements, then count and reasons of the failures and the number of rows stored
 * nevertheless; null if there is nothing to report.
 */
function notice(outcomes: readonly StatementOutcome[]): string | null {
  const texts = outcomes.flatMap(({ notices }) => notices);
  const failures = outcomes.flatMap(({ desc, verdict }, index) =>
    verdict === 'success' ? [] : [`statement ${String(index + 1)}: ${desc}`],
  );
  if (failures.length > 0) {
    const stored = `${String(rowCount(outcomes))} rows were inserted`;
    const head = `${String(failures.length)} of ${String(outcomes.length)} statements failed, ${stored}`;
    const rest = failures.length > MAX_REASONS ? ` and ${String(failures.length - MAX_REASONS)} more` : '';
    texts.push(`${head}: ${failures.slice(0, MAX_REASONS).join('; ')}${rest}`);
  }
  return texts.length === 0 ? null : texts.join('; ');
}

/** Maximum number of reasons in the notice. `desc` contains the outcome of each statement. */
const MAX_REASONS = 100;

/** Seconds since `startedAt`, with six decimals as in the original database. */
function seconds(startedAt: number): number {
  return Number(((performance.now() - startedAt) / 1000).toFixed(6));
}
