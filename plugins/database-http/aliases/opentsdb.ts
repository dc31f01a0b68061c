import type { NanosecondRule } from '../../database/index.ts';
import { describeOutcome, outcomeHeaders, reasonOf, statusOf, tallyOf, type Outcome } from '../ingest/outcome.ts';
import { byMetric, ingestJsonPoints, nanosecondsOf, valueTypeOf } from '../ingest/points.ts';
import { growingTables } from '../ingest/store.ts';
import { withAliasStatus } from './alias-status.ts';
import { jsonAnswer, type ApiAnswer, type ApiRequest, type Route } from '../route.ts';

const HINT = 'Please see the TSD logs or append "details" to the put request';

/** `GET /api/version`: clients of OpenTSDB ask it whether the server is there; the version says nothing of this program. */
export function openTsdbVersion(): Route {
  return {
    methods: ['GET', 'HEAD'],
    path: '/api/version',
    access: 'anyone',
    handle: async () =>
      jsonAnswer(200, { version: '2.4.0', short_revision: '', full_revision: '', repo: '', host: '' }),
  };
}

/**
 * `POST /api/put` of OpenTSDB: one point or an array of points. 204 without a body; with `summary` or `details` 200 and counts;
 * 400 when a point is bad. Values of new tables have the type of the first one, as OpenTSDB's users expect of numbers.
 */
export function openTsdbAlias(nanoseconds: NanosecondRule): Route {
  return {
    methods: ['POST'],
    path: '/api/put',
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
    failure: (failure) => {
      const { status, message } = withAliasStatus(failure);
      return jsonAnswer(status, { error: { code: status, message } });
    },
  };
}

function answer(outcome: Outcome, { query }: ApiRequest): ApiAnswer {
  const { stored, collapsed, badLines, badCount, failure } = outcome;
  const headers = outcomeHeaders(outcome);
  if (failure !== undefined) {
    const { status } = withAliasStatus(failure);
    const message = describeOutcome(outcome, 'point');
    return jsonAnswer(status, { error: { code: status, message } }, headers);
  }
  const status = statusOf(outcome, 200);
  const counts = { success: stored + collapsed, failed: badCount };
  if (query.has('details')) {
    const errors = badLines.map((bad) => ({ datapoint: datapoint(bad.text), error: reasonOf(bad) }));
    return jsonAnswer(status, { errors, ...counts }, headers);
  }
  if (query.has('summary')) return jsonAnswer(status, counts, headers);
  if (badCount === 0) return { status: 204, headers };
  const error = { code: 400, message: 'One or more data points had errors', details: HINT };
  return jsonAnswer(status, { error }, headers);
}

function datapoint(text: string | undefined): unknown {
  return text === undefined ? null : (JSON.parse(text) as unknown);
}

/** Finds points by their number in a piece of the body, which is parsed at its first bad point, once. */
function pointTexts(text: string): (point: number) => string | undefined {
  let points: readonly unknown[] | undefined;
  return (number) => {
    points ??= parsePoints(text);
    const point = points[number - 1];
    const spelled = point === undefined ? '' : JSON.stringify(point);
    return spelled === '' || spelled.length > MAX_POINT_LENGTH ? undefined : spelled;
  };
}

/** A larger piece is one point, or almost: parsing it takes several times its size, and keeps everyone else waiting. */
const MAX_REPEATED_LENGTH = 2_400_000;
/** Larger bad points are not repeated in the answer. */
const MAX_POINT_LENGTH = 10_000;

function parsePoints(text: string): readonly unknown[] {
  if (text.length > MAX_REPEATED_LENGTH) return [];
  try {
    const parsed = JSON.parse(text) as unknown;
    return Array.isArray(parsed) ? parsed : [parsed];
  } catch {
    // The piece as a whole is bad, and is told as such.
    return [];
  }
}
