import type { NanosecondRule } from '../../database/index.ts';
import type { Store } from './ingest.ts';
import { describeOutcome, outcomeHeaders, statusOf, tallyOf, type Outcome } from './outcome.ts';
import { ingestLines, type LineReading } from './lines.ts';
import {
  byMetric,
  ingestJsonPoints,
  ingestTelnetLines,
  nanosecondsOf,
  valueTypeOf,
  type PointReading,
} from './points.ts';
import { lineTimes } from './precision.ts';
import { existingTables, growingTables } from './store.ts';
import { jsonAnswer, type ApiAnswer, type ApiFailure, type ApiRequest, type Route } from '../route.ts';

/** Lines without `precision=` are in nanoseconds. */
const DEFAULT_PRECISION = 'ns';

/** The ingestion endpoints (docs/database-api.md). `nanoseconds`: the rule of requests that name none. */
export function ingestRoutes(nanoseconds: NanosecondRule = 'floor'): Route[] {
  const readingOf = (request: ApiRequest): LineReading => ({
    times: lineTimes(request.query.get('precision') ?? DEFAULT_PRECISION),
    stringEscapes: 'documented',
    nanoseconds: nanosecondsOf(request, nanoseconds),
  });
  const pointsOf = (request: ApiRequest): PointReading => ({
    valueType: valueTypeOf(request),
    nanoseconds: nanosecondsOf(request, nanoseconds),
  });
  return [
    {
      methods: ['POST'],
      path: '/restapi/collector',
      takesTimeZone: false,
      handle: async (request) =>
        answer(await ingestLines(request.body(), readingOf(request), existingTables(request)), 'line', null),
      failure,
    },
    {
      methods: ['POST'],
      path: '/restapi/linedb',
      handle: async (request) =>
        answer(await ingestLines(request.body(), readingOf(request), growingTables(request)), 'line', null),
      failure,
    },
    {
      methods: ['POST'],
      path: '/restapi/tsdbjson',
      handle: async (request) =>
        answer(await ingestJsonPoints(request.body(), metrics(request), pointsOf(request)), 'point', SUCCESS),
      failure,
    },
    {
      methods: ['POST'],
      path: '/restapi/tsdbtelnet',
      handle: async (request) =>
        answer(await ingestTelnetLines(request.body(), metrics(request), pointsOf(request)), 'line', SUCCESS),
      failure,
    },
  ];
}

/** One text for each point. */
const SUCCESS = 'success;';

function metrics(request: ApiRequest): Store {
  return byMetric(request.executor.catalogue, growingTables(request));
}

/** `{code, desc, rows, time}`; `success`: the text per row when all went well, or null. */
function answer(outcome: Outcome, unit: 'line' | 'point', success: string | null): ApiAnswer {
  const { stored, collapsed, badCount, timings } = outcome;
  const ok = badCount === 0 && outcome.failure === undefined;
  const told = jsonAnswer(
    statusOf(outcome, 200),
    {
      code: ok ? 0 : -1,
      desc: ok ? (success?.repeat(stored + collapsed) ?? null) : describeOutcome(outcome, unit),
      rows: stored,
      time: ok ? Math.round(timings.totalMs * 1000) / 1e6 : null,
    },
    outcomeHeaders(outcome),
  );
  return { ...told, tally: tallyOf(outcome) };
}

function failure({ status, message }: ApiFailure): ApiAnswer {
  return jsonAnswer(status, { code: -1, desc: message, rows: null, time: null });
}
