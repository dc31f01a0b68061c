import { type ApiAnswer, type ApiFailure, jsonAnswer, type Route } from '../route.ts';
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
  // Accepted by no endpoint of the original, and needed by the documents.
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

/** `POST /restapi/ddl`: CREATE, DROP, DELETE, USE, ALTER, UPDATE, GRANT, REVOKE. */
export function ddlRoute(statements: RequestStatements): Route {
  return {
    methods: ['POST'],
    path: '/restapi/ddl',
    handle: async (request) => {
      const { startedAt } = request.clock;
      const run = await statements.run(request, ddlRules);
      const time = seconds(startedAt);
      return answer(run, (ok) => ({ code: ok ? 0 : -1, desc: descs(run.outcomes), time: ok ? time : null }));
    },
    failure: (failure) => jsonAnswer(failure.status, { code: -1, desc: [failure.message], time: null }),
  };
}

/** `POST /restapi/insert`: INSERT. */
export function insertRoute(statements: RequestStatements): Route {
  return {
    methods: ['POST'],
    path: '/restapi/insert',
    handle: async (request) => {
      const { startedAt } = request.clock;
      const run = await statements.run(request, insertRules);
      const time = seconds(startedAt);
      return answer(run, (ok) => ({
        code: ok ? 0 : -1,
        desc: descs(run.outcomes),
        rows: ok ? rowCount(run.outcomes) : null,
        notice: notice(run.outcomes),
        time: ok ? time : null,
      }));
    },
    failure: insertFailure,
  };
}

function insertFailure(failure: ApiFailure): ApiAnswer {
  const body = { code: -1, desc: [failure.message], rows: null, notice: null, time: null };
  return jsonAnswer(failure.status, body);
}

function answer({ outcomes, fault }: StatementsRun, body: (ok: boolean) => Record<string, unknown>): ApiAnswer {
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

/** Count and reasons of what failed, and how much was stored all the same; null when there is nothing to say. */
function notice(outcomes: readonly StatementOutcome[]): string | null {
  const told = outcomes.flatMap(({ notices }) => notices);
  const failures = outcomes.flatMap(({ desc, verdict }, index) =>
    verdict === 'success' ? [] : [`statement ${String(index + 1)}: ${desc}`],
  );
  if (failures.length > 0) {
    const stored = `${String(rowCount(outcomes))} rows were inserted`;
    const head = `${String(failures.length)} of ${String(outcomes.length)} statements failed, ${stored}`;
    const rest = failures.length > MAX_TOLD ? ` and ${String(failures.length - MAX_TOLD)} more` : '';
    told.push(`${head}: ${failures.slice(0, MAX_TOLD).join('; ')}${rest}`);
  }
  return told.length === 0 ? null : told.join('; ');
}

/** Reasons that are spelled out; each is in `desc` anyway. */
const MAX_TOLD = 100;

/** With six decimals, as the original has it. */
function seconds(startedAt: number): number {
  return Number(((performance.now() - startedAt) / 1000).toFixed(6));
}
