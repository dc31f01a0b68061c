import type { NanosecondRule } from '../../database/index.ts';
import { ingestLines, type LineReading } from '../ingest/lines.ts';
import {
  describeOutcome,
  outcomeHeaders,
  reasonOf,
  statusOf,
  tallyOf,
  type BadLine,
  type Outcome,
} from '../ingest/outcome.ts';
import { influx1Times, lineTimes, type LineTimes } from '../ingest/precision.ts';
import { nanosecondsOf } from '../ingest/points.ts';
import { growingTables } from '../ingest/store.ts';
import { ingestWhole } from '../ingest/whole.ts';
import { ApiFailure, jsonAnswer, type ApiAnswer, type ApiRequest, type Route } from '../route.ts';
import { withAliasStatus } from './alias-status.ts';
import { TEXTS } from '../texts.ts';

/** The protocol version that clients of InfluxDB 1 look for; it says nothing of this program. */
export const INFLUX_HEADERS = { 'X-Influxdb-Version': '1.8.10', 'X-Influxdb-Build': 'OSS' } as const;

/** `code` of InfluxDB 2 by status (its API's schema `Error`). */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthorized',
  404: 'not found',
  413: 'request too large',
  500: 'internal error',
  503: 'unavailable',
};

/** Where clients of InfluxDB 1, 2 and 3 and of QuestDB write. Lines create and extend tables as `/restapi/linedb` does. */
export function influxAliases(nanoseconds: NanosecondRule): Route[] {
  return [
    writeRoute('/write', ['db'], readingBy(influx1Times, 'ns', nanoseconds), firstVersionBody),
    writeRoute('/api/v2/write', ['bucket', 'db'], readingBy(lineTimes, 'ns', nanoseconds), secondVersionBody),
    thirdVersionRoute(readingBy(lineTimes, 'auto', nanoseconds)),
  ];
}

type ErrorBody = (status: number, message: string, line: number | undefined) => unknown;

/** InfluxDB 1 reads `error`; QuestDB, which has the same path, `code`, `message` and `line`. */
function firstVersionBody(status: number, message: string, line: number | undefined): unknown {
  const code = CODES[status] ?? 'invalid';
  return { error: message, code, message, ...(line === undefined ? {} : { line }) };
}

export function secondVersionBody(status: number, message: string, line: number | undefined): unknown {
  return { code: CODES[status] ?? 'invalid', message, ...(line === undefined ? {} : { line }) };
}

function writeRoute(
  path: string,
  databaseParameters: readonly string[],
  readingOf: (request: ApiRequest) => LineReading,
  errorBody: ErrorBody,
): Route {
  return {
    methods: ['POST'],
    path,
    credentials: 'any',
    databaseParameters,
    handle: async (request) => {
      const outcome = await withInfluxFailure(store(request, readingOf(request)), request);
      const headers = { ...INFLUX_HEADERS, ...outcomeHeaders(outcome) };
      const status = statusOf(outcome, 204);
      const tally = tallyOf(outcome);
      if (status === 204) return { status, headers, tally };
      const body = errorBody(status, partialWrite(outcome), outcome.badLines[0]?.line);
      return { ...jsonAnswer(status, body, headers), tally };
    },
    failure: (failure) => {
      if (isEmptyBody(failure)) return { status: 204, headers: INFLUX_HEADERS };
      const { status, message } = withAliasStatus(failure);
      return jsonAnswer(status, errorBody(status, message, undefined), INFLUX_HEADERS);
    },
  };
}

/**
 * The text of InfluxDB 1 for an error. Its clients and Telegraf drop the whole body when the text contains `partial write`, so the text
 * of a write that may succeed later does not contain it.
 */
function partialWrite(outcome: Outcome): string {
  if (outcome.failure?.status === 404) return outcome.failure.message;
  const text = describeOutcome(outcome, 'line');
  const isFinal = outcome.badCount > 0 && outcome.failure?.status !== 503;
  return isFinal ? `partial write: ${text} dropped=${String(outcome.badCount)}` : text;
}

/** A missing database has the status and the text by which Telegraf creates it and writes again. */
async function withInfluxFailure(writing: Promise<Outcome>, { database }: ApiRequest): Promise<Outcome> {
  const translate = (failure: ApiFailure): ApiFailure =>
    failure.kind === 'database-missing'
      ? new ApiFailure(404, `database not found: ${JSON.stringify(database)}`, { cause: failure })
      : withAliasStatus(failure);
  try {
    const outcome = await writing;
    return outcome.failure === undefined ? outcome : { ...outcome, failure: translate(outcome.failure) };
  } catch (error) {
    throw error instanceof ApiFailure ? translate(error) : error;
  }
}

/** Errors are told by line: `{error, data: [{original_line, line_number, error_message}]}` (docs of InfluxDB 3, write_lp). */
function thirdVersionRoute(readingOf: (request: ApiRequest) => LineReading): Route {
  return {
    methods: ['POST'],
    path: '/api/v3/write_lp',
    credentials: 'any',
    databaseParameters: ['db'],
    handle: async (request) => {
      const acceptsPartial = request.query.get('accept_partial') !== 'false';
      const reading = readingOf(request);
      const writing = acceptsPartial ? store(request, reading) : ingestWhole(request, reading);
      const outcome = await withInfluxFailure(writing, request);
      const headers = outcomeHeaders(outcome);
      const status = statusOf(outcome, 204);
      const tally = tallyOf(outcome);
      if (status === 204) return { status, headers, tally };
      const body = acceptsPartial ? partialBody(outcome) : refusedBody(outcome);
      return { ...jsonAnswer(status, body, headers), tally };
    },
    failure: (failure): ApiAnswer => {
      if (isEmptyBody(failure)) return { status: 204 };
      const { status, message } = withAliasStatus(failure);
      return jsonAnswer(status, { error: message });
    },
  };
}

function partialBody({ badLines, badCount, failure }: Outcome): unknown {
  if (badCount === 0) return { error: failure?.message ?? '' };
  const more = badCount - badLines.length;
  const rest = [
    more > 0 ? `; ${String(badLines.length)} of ${String(badCount)} bad lines are listed` : '',
    failure === undefined ? '' : `; ${failure.message}`,
  ];
  return { error: `partial write of line protocol occurred${rest.join('')}`, data: badLines.map(lineError) };
}

/** With `accept_partial=false`: the first bad line is the reason that no line is stored. */
function refusedBody({ badLines, failure }: Outcome): unknown {
  const [first] = badLines;
  if (first === undefined) return { error: failure?.message ?? '' };
  return { error: 'parsing failed for write_lp endpoint', data: lineError(first) };
}

function lineError(bad: BadLine): unknown {
  return { original_line: bad.text ?? '', line_number: bad.line, error_message: reasonOf(bad) };
}

/** `precision`: that of requests which name none. */
function readingBy(timesOf: (precision: string) => LineTimes, precision: string, nanoseconds: NanosecondRule) {
  return (request: ApiRequest): LineReading => ({
    times: timesOf(request.query.get('precision') ?? precision),
    stringEscapes: 'standard',
    nanoseconds: nanosecondsOf(request, nanoseconds),
  });
}

async function store(request: ApiRequest, reading: LineReading): Promise<Outcome> {
  return ingestLines(request.body(), reading, growingTables(request));
}

/** Clients of InfluxDB may flush nothing; it takes that. */
function isEmptyBody({ status, message }: ApiFailure): boolean {
  return status === 400 && message === TEXTS.emptyBody;
}

/** What clients ask before they write. Answered without credentials, so that they tell nothing else. */
export function greetingAliases(): Route[] {
  const open = { methods: ['GET', 'HEAD'], access: 'anyone' } as const;
  return [
    {
      ...open,
      path: '/ping',
      handle: async ({ query }) => {
        const verbose = query.get('verbose') ?? 'false';
        if (verbose === 'false' || verbose === '0') return { status: 204, headers: INFLUX_HEADERS };
        return jsonAnswer(200, { version: INFLUX_HEADERS['X-Influxdb-Version'] }, INFLUX_HEADERS);
      },
    },
    {
      ...open,
      path: '/health',
      handle: async (request) => {
        if (await request.databaseAnswers()) {
          return jsonAnswer(200, {
            name: 'influxdb',
            message: 'ready for queries and writes',
            status: 'pass',
            checks: [],
          });
        }
        const body = { name: 'influxdb', message: TEXTS.databaseAway, status: 'fail', checks: [] };
        return jsonAnswer(503, body, { 'Retry-After': '5' });
      },
    },
    {
      // QuestDB's clients ask for the versions of line protocol; 1 is the one in plain text.
      ...open,
      path: '/settings',
      handle: async () =>
        jsonAnswer(200, { config: { 'line.proto.support.versions': [1], 'cairo.max.file.name.length': 63 } }),
    },
  ];
}
