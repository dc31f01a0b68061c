import {
  ANY,
  ANY_OBJECT,
  anyOf,
  arrayOf,
  BOOLEAN,
  component,
  COUNT,
  enumOf,
  limited,
  objectOf,
  TEXT,
  type QueryParameter,
  type ShapeOf,
  type Typed,
} from '../../../src/index.ts';
import type { NanosecondRule } from '../../database/index.ts';
import { ingestLines, LINES, type LineReading } from '../ingest/lines.ts';
import {
  describeOutcome,
  outcomeHeaders,
  reasonOf,
  statusOf,
  tallyOf,
  type BadLine,
  type Outcome,
} from '../ingest/outcome.ts';
import { influx1Times, lineTimes, PRECISION, type LineTimes } from '../ingest/precision.ts';
import { NANOSECONDS, nanosecondsOf } from '../ingest/points.ts';
import { growingTables } from '../ingest/store.ts';
import { ingestWhole } from '../ingest/whole.ts';
import { DATABASE, json, VERSION } from '../open-api/shared-schemas.ts';
import { ApiFailure, jsonAnswer, type ApiRequest, type MethodRoute } from '../route.ts';
import { withAliasStatus } from './alias-status.ts';
import { TEXTS } from '../texts.ts';

/** The version that clients of InfluxDB 1 expect. It is unrelated to the version of Sluice. */
export const INFLUX_HEADERS = { 'X-Influxdb-Version': '1.8.10', 'X-Influxdb-Build': 'OSS' } as const;

/** InfluxDB 2's `code` of an error by HTTP status (schema `Error` of its API). */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthorized',
  404: 'not found',
  413: 'request too large',
  500: 'internal error',
  503: 'unavailable',
};

/** Clients of InfluxDB 1 read `error`. Those of QuestDB, which has the same path, read `code`, `message` and `line`. */
export const INFLUX_ERROR = component(
  'InfluxError',
  objectOf({ error: TEXT, 'code?': TEXT, 'message?': TEXT, 'line?': COUNT }),
);
export const INFLUX_2_ERROR = component('Influx2Error', objectOf({ code: TEXT, message: TEXT, 'line?': COUNT }));
const BAD_LINE = objectOf({ original_line: TEXT, line_number: COUNT, error_message: TEXT });
const INFLUX_3_ERROR = component(
  'Influx3Error',
  objectOf({ error: TEXT, 'data?': anyOf(BAD_LINE, arrayOf(BAD_LINE)) }),
);
const HEALTH = component(
  'Health',
  objectOf({
    name: TEXT,
    message: TEXT,
    status: enumOf(['pass', 'fail']),
    checks: limited(arrayOf(ANY), 0),
  }),
);
const SETTINGS = component('Settings', objectOf({ config: ANY_OBJECT }));

/** The query parameters with which clients of InfluxDB 1 log in. */
export const CREDENTIALS: Readonly<Record<string, QueryParameter>> = {
  u: { description: 'The user, instead of the header Authorization', schema: TEXT },
  p: { description: 'The password, instead of the header Authorization', schema: TEXT },
};

/** Paths to which clients of InfluxDB 1, 2 and 3 and of QuestDB write. Lines create and extend tables as on `/restapi/linedb`. */
export function influxAliases(nanoseconds: NanosecondRule): MethodRoute[] {
  const times = { precision: PRECISION, nanoseconds: NANOSECONDS };
  return [
    {
      path: '/write',
      summary: 'Store lines, as InfluxDB 1 and QuestDB do',
      query: { db: DATABASE, ...times, ...CREDENTIALS },
      databaseParameters: ['db'],
      ...writing(readingBy(influx1Times, 'ns', nanoseconds), INFLUX_ERROR, firstVersionBody),
    },
    {
      path: '/api/v2/write',
      summary: 'Store lines, as InfluxDB 2 does',
      query: { bucket: DATABASE, ...times },
      databaseParameters: ['bucket', 'db'],
      ...writing(readingBy(lineTimes, 'ns', nanoseconds), INFLUX_2_ERROR, secondVersionBody),
    },
    thirdVersionRoute(readingBy(lineTimes, 'auto', nanoseconds), times),
  ];
}

const LINES_OF_INFLUX = {
  method: 'POST',
  tag: 'InfluxDB',
  body: LINES,
  answers: { 204: null },
  credentials: 'any',
} as const;

type ErrorBody<T> = (status: number, message: string, line: number | undefined) => T;

function firstVersionBody(status: number, message: string, line?: number): ShapeOf<typeof INFLUX_ERROR> {
  return { error: message, ...secondVersionBody(status, message, line) };
}

export function secondVersionBody(status: number, message: string, line?: number): ShapeOf<typeof INFLUX_2_ERROR> {
  return { code: CODES[status] ?? 'invalid', message, ...(line === undefined ? {} : { line }) };
}

/** The common part of the routes of InfluxDB 1 and 2. `errorBody` converts an error to the form of the version. */
function writing<T>(
  readingOf: (request: ApiRequest) => LineReading,
  schema: Typed<T>,
  errorBody: ErrorBody<T>,
): typeof LINES_OF_INFLUX & Pick<MethodRoute, 'failure' | 'handle'> {
  return {
    ...LINES_OF_INFLUX,
    failure: {
      schema,
      answer: (failure) => {
        if (isEmptyBody(failure)) return { status: 204, headers: INFLUX_HEADERS };
        const { status, message } = withAliasStatus(failure);
        return jsonAnswer(status, errorBody(status, message, undefined), INFLUX_HEADERS);
      },
    },
    handle: async (request) => {
      const outcome = await withInfluxFailure(store(request, readingOf(request)), request);
      const headers = { ...INFLUX_HEADERS, ...outcomeHeaders(outcome) };
      const status = statusOf(outcome, 204);
      const tally = tallyOf(outcome);
      if (status === 204) return { status, headers, tally };
      const body = errorBody(status, partialWrite(outcome), outcome.badLines[0]?.line);
      return { ...jsonAnswer(status, body, headers), tally };
    },
  };
}

/**
 * The text of an error for clients of InfluxDB 1 and 2. If the text contains `partial write`, clients and Telegraf drop
 * the whole body, so the text does not contain it when a retry may succeed.
 */
function partialWrite(outcome: Outcome): string {
  if (outcome.failure?.status === 404) return outcome.failure.message;
  const text = describeOutcome(outcome, 'line');
  const isFinal = outcome.badCount > 0 && outcome.failure?.status !== 503;
  return isFinal ? `partial write: ${text} dropped=${String(outcome.badCount)}` : text;
}

/** A missing database gets the status and text for which Telegraf creates the database and writes again. */
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

/**
 * The route of InfluxDB 3. Errors list the bad lines: `{error, data: [{original_line, line_number, error_message}]}`
 * (write_lp). With `accept_partial=false`, `data` is the first bad line instead of a list.
 */
function thirdVersionRoute(
  readingOf: (request: ApiRequest) => LineReading,
  times: Readonly<Record<string, QueryParameter>>,
): MethodRoute {
  return {
    ...LINES_OF_INFLUX,
    path: '/api/v3/write_lp',
    summary: 'Store lines, as InfluxDB 3 does',
    query: {
      db: DATABASE,
      ...times,
      accept_partial: { description: '`false`: all lines are stored or none', schema: BOOLEAN },
    },
    databaseParameters: ['db'],
    failure: {
      schema: INFLUX_3_ERROR,
      answer: (failure) => {
        if (isEmptyBody(failure)) return { status: 204 };
        const { status, message } = withAliasStatus(failure);
        return jsonAnswer<Influx3Error>(status, { error: message });
      },
    },
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
  };
}

type Influx3Error = ShapeOf<typeof INFLUX_3_ERROR>;

function partialBody({ badLines, badCount, failure }: Outcome): Influx3Error {
  if (badCount === 0) return { error: failure?.message ?? '' };
  const more = badCount - badLines.length;
  const rest = [
    more > 0 ? `; ${String(badLines.length)} of ${String(badCount)} bad lines are listed` : '',
    failure === undefined ? '' : `; ${failure.message}`,
  ];
  return { error: `partial write of line protocol occurred${rest.join('')}`, data: badLines.map(lineError) };
}

/** The error of a request with `accept_partial=false` that stored nothing. It names the first bad line. */
function refusedBody({ badLines, failure }: Outcome): Influx3Error {
  const [first] = badLines;
  if (first === undefined) return { error: failure?.message ?? '' };
  return { error: 'parsing failed for write_lp endpoint', data: lineError(first) };
}

function lineError(bad: BadLine): ShapeOf<typeof BAD_LINE> {
  return { original_line: bad.text ?? '', line_number: bad.line, error_message: reasonOf(bad) };
}

/** `precision` applies to requests that do not specify one. */
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

/** Whether the failure is an empty body, which InfluxDB accepts. */
function isEmptyBody({ status, message }: ApiFailure): boolean {
  return status === 400 && message === TEXTS.emptyBody;
}

/** Paths that clients request before they write. They need no credentials, so the answers contain nothing about the data. */
export function greetingAliases(): MethodRoute[] {
  const greeting = { method: 'GET', tag: 'InfluxDB', access: 'anyone' } as const;
  return [
    {
      ...greeting,
      path: '/ping',
      summary: 'Whether the API answers',
      query: { verbose: { description: 'Any value except `false` and `0` adds the version', schema: TEXT } },
      answers: { 200: json(VERSION), 204: null },
      handle: async ({ query }) => {
        const verbose = query.get('verbose') ?? 'false';
        if (verbose === 'false' || verbose === '0') return { status: 204, headers: INFLUX_HEADERS };
        const version = { version: INFLUX_HEADERS['X-Influxdb-Version'] };
        return jsonAnswer<ShapeOf<typeof VERSION>>(200, version, INFLUX_HEADERS);
      },
    },
    {
      ...greeting,
      path: '/health',
      summary: 'Whether the database server accepts connections',
      answers: { 200: json(HEALTH), 503: json(HEALTH) },
      handle: async (request) => {
        const name = 'influxdb';
        if (await request.databaseAnswers()) {
          const body = { name, message: 'ready for queries and writes', status: 'pass', checks: [] } as const;
          return jsonAnswer<ShapeOf<typeof HEALTH>>(200, body);
        }
        const body = { name, message: TEXTS.databaseAway, status: 'fail', checks: [] } as const;
        return jsonAnswer<ShapeOf<typeof HEALTH>>(503, body, { 'Retry-After': '5' });
      },
    },
    {
      // QuestDB's clients request the supported versions of the line protocol; version 1 is the text form.
      ...greeting,
      tag: 'QuestDB',
      path: '/settings',
      summary: 'Settings that clients of QuestDB request before they write',
      answers: { 200: json(SETTINGS) },
      handle: async () => {
        const config = { 'line.proto.support.versions': [1], 'cairo.max.file.name.length': 63 };
        return jsonAnswer<ShapeOf<typeof SETTINGS>>(200, { config });
      },
    },
  ];
}
