import { component, INTEGER, literalOf, nullable, NUMBER, objectOf, TEXT, type ShapeOf } from '../../../src/index.ts';
import type { NanosecondRule } from '../../database/index.ts';
import type { Store } from './ingest.ts';
import { describeOutcome, outcomeHeaders, statusOf, tallyOf, type Outcome } from './outcome.ts';
import { ingestLines, LINES, type LineReading } from './lines.ts';
import {
  byMetric,
  ingestJsonPoints,
  ingestTelnetLines,
  NANOSECONDS,
  nanosecondsOf,
  POINTS,
  VALUE_TYPE,
  valueTypeOf,
  type PointReading,
} from './points.ts';
import { lineTimes, PRECISION } from './precision.ts';
import { existingTables, growingTables } from './store.ts';
import { DATABASE, json, plainText } from '../open-api/shared-schemas.ts';
import { jsonAnswer, type ApiAnswer, type ApiRequest, type FailureForm, type MethodRoute } from '../route.ts';
import { ZONE } from '../time-zone.ts';

/** Lines without `precision=` are in nanoseconds. */
const DEFAULT_PRECISION = 'ns';

const INGEST = component(
  'Ingest',
  objectOf({ code: literalOf(0, -1), desc: nullable(TEXT), rows: nullable(INTEGER), time: nullable(NUMBER) }),
);

const INGEST_FAILURE: FailureForm = {
  schema: INGEST,
  answer: ({ status, message }) =>
    jsonAnswer<ShapeOf<typeof INGEST>>(status, { code: -1, desc: message, rows: null, time: null }),
};

/** The ingestion endpoints (docs/database-api.md). `nanoseconds` applies to requests that do not specify a rule. */
export function ingestRoutes(nanoseconds: NanosecondRule = 'floor'): MethodRoute[] {
  const readingOf = (request: ApiRequest): LineReading => ({
    times: lineTimes(request.query.get('precision') ?? DEFAULT_PRECISION),
    stringEscapes: 'documented',
    nanoseconds: nanosecondsOf(request, nanoseconds),
  });
  const pointsOf = (request: ApiRequest): PointReading => ({
    valueType: valueTypeOf(request),
    nanoseconds: nanosecondsOf(request, nanoseconds),
  });
  const common = { method: 'POST', tag: 'rows', answers: { 200: json(INGEST) }, failure: INGEST_FAILURE } as const;
  return [
    {
      ...common,
      path: '/restapi/collector',
      summary: 'Store lines of line protocol in tables that exist',
      query: { db: DATABASE, precision: PRECISION, nanoseconds: NANOSECONDS },
      body: LINES,
      takesTimeZone: false,
      handle: async (request) =>
        answer(await ingestLines(request.body(), readingOf(request), existingTables(request)), 'line', null),
    },
    {
      ...common,
      path: '/restapi/linedb',
      summary: 'Store lines of line protocol; tables are created and get columns',
      query: { db: DATABASE, tz: ZONE, precision: PRECISION, nanoseconds: NANOSECONDS },
      body: LINES,
      handle: async (request) =>
        answer(await ingestLines(request.body(), readingOf(request), growingTables(request)), 'line', null),
    },
    {
      ...common,
      path: '/restapi/tsdbjson',
      summary: 'Store points in JSON',
      query: { db: DATABASE, tz: ZONE, 'value.type': VALUE_TYPE, nanoseconds: NANOSECONDS },
      body: POINTS,
      handle: async (request) =>
        answer(await ingestJsonPoints(request.body(), metrics(request), pointsOf(request)), 'point', SUCCESS),
    },
    {
      ...common,
      path: '/restapi/tsdbtelnet',
      summary: 'Store points in lines',
      query: { db: DATABASE, tz: ZONE, 'value.type': VALUE_TYPE, nanoseconds: NANOSECONDS },
      body: plainText('sys.load 1700000000 0.5 host=a'),
      handle: async (request) =>
        answer(await ingestTelnetLines(request.body(), metrics(request), pointsOf(request)), 'line', SUCCESS),
    },
  ];
}

/** Documented text, which the answer repeats for each point. */
const SUCCESS = 'success;';

function metrics(request: ApiRequest): Store {
  return byMetric(request.executor.catalogue, growingTables(request));
}

/** The answer `{code, desc, rows, time}`. `success` is the text per row if all rows were stored; null for no text. */
function answer(outcome: Outcome, unit: 'line' | 'point', success: string | null): ApiAnswer {
  const { stored, collapsed, badCount, timings } = outcome;
  const ok = badCount === 0 && outcome.failure === undefined;
  const sent = jsonAnswer<ShapeOf<typeof INGEST>>(
    statusOf(outcome, 200),
    {
      code: ok ? 0 : -1,
      desc: ok ? (success?.repeat(stored + collapsed) ?? null) : describeOutcome(outcome, unit),
      rows: stored,
      time: ok ? Math.round(timings.totalMs * 1000) / 1e6 : null,
    },
    outcomeHeaders(outcome),
  );
  return { ...sent, tally: tallyOf(outcome) };
}
