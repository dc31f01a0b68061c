import { ANY, arrayOf, component, COUNT, objectOf, TEXT, type ShapeOf } from '../../../src/index.ts';
import type { NanosecondRule } from '../../database/index.ts';
import { describeOutcome, outcomeHeaders, reasonOf, statusOf, tallyOf, type Outcome } from '../ingest/outcome.ts';
import {
  byMetric,
  ingestJsonPoints,
  NANOSECONDS,
  nanosecondsOf,
  POINTS,
  VALUE_TYPE,
  valueTypeOf,
} from '../ingest/points.ts';
import { growingTables } from '../ingest/store.ts';
import { withAliasStatus } from './alias-status.ts';
import { DATABASE, json, VERSION } from '../open-api/shared-schemas.ts';
import {
  jsonAnswer,
  PLAIN_FAILURE,
  type ApiAnswer,
  type ApiRequest,
  type FailureForm,
  type MethodRoute,
} from '../route.ts';
import { ZONE } from '../time-zone.ts';

const HINT = 'Please see the TSD logs or append "details" to the put request';

const COUNTS = { success: COUNT, failed: COUNT };
const PUT_COUNTS = component('PutCounts', objectOf(COUNTS));
const PUT_DETAILS = component(
  'PutDetails',
  objectOf({ errors: arrayOf(objectOf({ datapoint: ANY, error: TEXT })), ...COUNTS }),
);
const PUT_ERROR = component(
  'PutError',
  objectOf({ error: objectOf({ code: COUNT, message: TEXT, 'details?': TEXT }) }),
);
type PutError = ShapeOf<typeof PUT_ERROR>;

const PUT_FAILURE: FailureForm = {
  schema: PUT_ERROR,
  answer: (failure) => {
    const { status, message } = withAliasStatus(failure);
    return jsonAnswer<PutError>(status, { error: { code: status, message } });
  },
};

/** `GET /api/version`, with which clients of OpenTSDB check that the server responds. The version is unrelated to that of Sluice. */
export function openTsdbVersion(): MethodRoute {
  return {
    method: 'GET',
    path: '/api/version',
    summary: 'Version that clients of OpenTSDB request before they write',
    tag: 'OpenTSDB',
    answers: { 200: json(VERSION) },
    access: 'anyone',
    handle: async () => {
      const version = { version: '2.4.0', short_revision: '', full_revision: '', repo: '', host: '' };
      return jsonAnswer<ShapeOf<typeof VERSION>>(200, version);
    },
  };
}

/**
 * `POST /api/put` of OpenTSDB, which stores one point or an array of points. Returns 204 without a body, 200 with
 * counts if `summary` or `details` is given, or 400 if a point is bad. Unless `value.type` is given, the value column
 * of a new table has the type of the first value, because OpenTSDB's users expect numbers.
 */
export function openTsdbAlias(nanoseconds: NanosecondRule): MethodRoute {
  return {
    method: 'POST',
    path: '/api/put',
    summary: 'Store points in JSON, as OpenTSDB does',
    tag: 'OpenTSDB',
    query: {
      db: DATABASE,
      summary: { description: 'Return counts', schema: TEXT },
      details: { description: 'Return counts and the points that could not be stored', schema: TEXT },
      'value.type': VALUE_TYPE,
      nanoseconds: NANOSECONDS,
      tz: ZONE,
    },
    body: POINTS,
    answers: {
      200: json(PUT_COUNTS, PUT_DETAILS),
      204: null,
      400: json(PUT_COUNTS, PUT_DETAILS, PUT_ERROR, PLAIN_FAILURE.schema),
    },
    failure: PUT_FAILURE,
    credentials: 'any',
    handle: async (request) => {
      const store = byMetric(request.executor.catalogue, growingTables(request));
      const reading = {
        valueType: valueTypeOf(request, 'auto'),
        nanoseconds: nanosecondsOf(request, nanoseconds),
      };
      const outcome = await ingestJsonPoints(
        request.body(),
        store,
        reading,
        request.query.has('details') ? pointTexts : undefined,
      );
      return { ...answer(outcome, request), tally: tallyOf(outcome) };
    },
  };
}

function answer(outcome: Outcome, { query }: ApiRequest): ApiAnswer {
  const { stored, collapsed, badLines, badCount, failure } = outcome;
  const headers = outcomeHeaders(outcome);
  if (failure !== undefined) {
    const { status } = withAliasStatus(failure);
    const message = describeOutcome(outcome, 'point');
    return jsonAnswer<PutError>(status, { error: { code: status, message } }, headers);
  }
  const status = statusOf(outcome, 200);
  const counts = { success: stored + collapsed, failed: badCount };
  if (query.has('details')) {
    const errors = badLines.map((bad) => ({ datapoint: datapoint(bad.text), error: reasonOf(bad) }));
    return jsonAnswer<ShapeOf<typeof PUT_DETAILS>>(status, { errors, ...counts }, headers);
  }
  if (query.has('summary')) return jsonAnswer<ShapeOf<typeof PUT_COUNTS>>(status, counts, headers);
  if (badCount === 0) return { status: 204, headers };
  const error = { code: 400, message: 'One or more data points had errors', details: HINT };
  return jsonAnswer<PutError>(status, { error }, headers);
}

function datapoint(text: string | undefined): unknown {
  return text === undefined ? null : (JSON.parse(text) as unknown);
}

/**
 * Returns a function that finds the JSON of a point by its number in `text`, which is the body or a part of it. `text`
 * is parsed only once, when the function is first called.
 */
function pointTexts(text: string): (point: number) => string | undefined {
  let points: readonly unknown[] | undefined;
  return (number) => {
    points ??= parsePoints(text);
    const point = points[number - 1];
    const spelled = point === undefined ? '' : JSON.stringify(point);
    return spelled === '' || spelled.length > MAX_POINT_LENGTH ? undefined : spelled;
  };
}

/**
 * Maximum length of a text that is parsed again to quote its bad points, in characters. A longer text consists of a few
 * huge points; parsing it needs several times its size in memory, and blocks all other requests.
 */
const MAX_REPEATED_LENGTH = 2_400_000;
/** Larger bad points are not repeated in the answer. */
const MAX_POINT_LENGTH = 10_000;

function parsePoints(text: string): readonly unknown[] {
  if (text.length > MAX_REPEATED_LENGTH) return [];
  try {
    const parsed = JSON.parse(text) as unknown;
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    // Another error reports that the text is not valid JSON.
    return [];
  }
}
