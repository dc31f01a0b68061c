import type { Store } from './flow.ts';
import { describeOutcome, outcomeHeaders, statusOf, type Outcome } from './outcome.ts';
import { ingestLines } from './lines.ts';
import { byMetric, ingestJsonPoints, ingestTelnetLines, valueTypeOf } from './points.ts';
import { lineTimes } from './precision.ts';
import { existingTables, growingTables } from './store.ts';
import { jsonAnswer, type ApiAnswer, type ApiFailure, type ApiRequest, type Route } from '../route.ts';

/** Lines without `precision=` are in nanoseconds (spec/database-http-api.md, "Collector ingest"). */
const DEFAULT_PRECISION = 'ns';

/** The ingestion endpoints of spec/database-http-api.md. */
export function ingestRoutes(): Route[] {
  return [
    {
      methods: ['POST'],
      path: '/restapi/collector',
      takesTimeZone: false,
      handle: async (request) =>
        answer(await ingestLines(request.body(), timesOf(request), existingTables(request)), 'line', null),
      failure,
    },
    {
      methods: ['POST'],
      path: '/restapi/linedb',
      handle: async (request) =>
        answer(await ingestLines(request.body(), timesOf(request), growingTables(request)), 'line', null),
      failure,
    },
    {
      methods: ['POST'],
      path: '/restapi/tsdbjson',
      handle: async (request) =>
        answer(await ingestJsonPoints(request.body(), metrics(request), valueTypeOf(request)), 'point', SUCCESS),
      failure,
    },
    {
      methods: ['POST'],
      path: '/restapi/tsdbtelnet',
      handle: async (request) =>
        answer(await ingestTelnetLines(request.body(), metrics(request), valueTypeOf(request)), 'line', SUCCESS),
      failure,
    },
  ];
}

/** Per point, as the original joins it (reference/original-system.md 1, D5). */
const SUCCESS = 'success;';

function metrics(request: ApiRequest): Store {
  return byMetric(request.executor.catalogue, growingTables(request));
}

function timesOf({ query }: ApiRequest) {
  return lineTimes(query.get('precision') ?? DEFAULT_PRECISION);
}

/** `{code, desc, rows, time}`; `success`: the text per row when all went well, or null. */
function answer(outcome: Outcome, unit: 'line' | 'point', success: string | null): ApiAnswer {
  const { stored, collapsed, badCount, timings } = outcome;
  const ok = badCount === 0 && outcome.failure === undefined;
  return jsonAnswer(
    statusOf(outcome, 200),
    {
      code: ok ? 0 : -1,
      desc: ok ? (success?.repeat(stored + collapsed) ?? null) : describeOutcome(outcome, unit),
      rows: stored,
      time: ok ? Math.round(timings.totalMs * 1000) / 1e6 : null,
    },
    outcomeHeaders(outcome),
  );
}

function failure({ status, message }: ApiFailure): ApiAnswer {
  return jsonAnswer(status, { code: -1, desc: message, rows: null, time: null });
}
