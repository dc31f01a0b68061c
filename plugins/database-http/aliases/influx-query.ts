import {
  ANY,
  arrayOf,
  component,
  COUNT,
  literalOf,
  objectOf,
  TEXT,
  withKeywords,
  type ShapeOf,
} from '../../../src/index.ts';
import { DatabaseError, isUnavailable } from '../../database/index.ts';
import { databaseFailure, databaseText } from '../database-failure.ts';
import { createDatabase, findDatabase, listDatabases } from './databases.ts';
import { CREDENTIALS, INFLUX_ERROR, INFLUX_HEADERS } from './influx.ts';
import { readInfluxStatements, type InfluxStatement } from './influx-statements.ts';
import { withAliasStatus } from './alias-status.ts';
import { json } from '../open-api/shared-schemas.ts';
import { ApiFailure, jsonAnswer, type ApiRequest, type FailureForm, type MethodRoute } from '../route.ts';

/** The result of one statement in InfluxDB 1. */
const NUMBERED_RESULT = objectOf({
  statement_id: COUNT,
  'series?': arrayOf(objectOf({ 'name?': TEXT, columns: arrayOf(TEXT), values: arrayOf(arrayOf(ANY)) })),
  'messages?': arrayOf(objectOf({ level: literalOf('warning'), text: TEXT })),
  'error?': TEXT,
});
const RESULTS = component('InfluxResults', objectOf({ 'results?': arrayOf(NUMBERED_RESULT) }));
type NumberedResult = ShapeOf<typeof NUMBERED_RESULT>;
type Result = Omit<NumberedResult, 'statement_id'>;

const NOT_HERE =
  'only SHOW DATABASES, CREATE DATABASE, CREATE RETENTION POLICY and SHOW RETENTION POLICIES are answered here; send SQL to POST /restapi/query';
const NOTHING_EXPIRES = 'rows are not deleted by age here: the duration is ignored';
/** Columns of InfluxDB's SHOW RETENTION POLICIES, and the default policy that each database has. */
const POLICY_COLUMNS = ['name', 'duration', 'shardGroupDuration', 'replicaN', 'default'];
const POLICY = ['autogen', '0s', '168h0m0s', 1, true];

/**
 * `/query` of InfluxDB 1, with the statements that its clients and Telegraf send before they write. The statements of a
 * request run in order. As in InfluxDB, the response has status 200 even if a statement fails; the error is in the
 * result with the statement's number, and the following statements are reported as `not executed`. The request fails
 * only if its text cannot be parsed or the database is unavailable.
 */
export function influxQueryAliases(): MethodRoute[] {
  const common = {
    path: '/query',
    summary: 'The statements that clients of InfluxDB 1 send before they write',
    tag: 'InfluxDB',
    answers: { 200: json(RESULTS) },
    failure: QUERY_FAILURE,
    credentials: 'any',
    // `db` may name a database that a statement of the request creates, so the request does not connect to `db`.
    databaseParameters: [],
    handle: async (request: ApiRequest) => {
      const statements = await readStatements(request);
      const results: NumberedResult[] = [];
      let hasFailed = false;
      for (const [index, asked] of statements.entries()) {
        const result: Result = hasFailed ? { error: 'not executed' } : await answerOne(asked, request);
        hasFailed ||= result.error !== undefined;
        results.push({ statement_id: index, ...result });
      }
      return jsonAnswer<ShapeOf<typeof RESULTS>>(200, results.length === 0 ? {} : { results }, INFLUX_HEADERS);
    },
  } as const;
  const q = { description: 'Statements of InfluxQL', schema: withKeywords(TEXT, { examples: ['SHOW DATABASES'] }) };
  return [
    { ...common, method: 'GET', query: { q, ...CREDENTIALS } },
    {
      ...common,
      method: 'POST',
      query: CREDENTIALS,
      body: { 'application/x-www-form-urlencoded': objectOf({ q: TEXT }) },
    },
  ];
}

const QUERY_FAILURE: FailureForm = {
  schema: INFLUX_ERROR,
  answer: (failure) => {
    const { status, message } = withAliasStatus(failure);
    return jsonAnswer<ShapeOf<typeof INFLUX_ERROR>>(status, { error: message }, INFLUX_HEADERS);
  },
};

/** Reads the statements from `q` in the URL or in a form, because clients send either. */
async function readStatements(request: ApiRequest): Promise<readonly InfluxStatement[]> {
  const form = request.method === 'POST' ? new URLSearchParams(await request.text()) : undefined;
  const text = request.query.get('q') ?? form?.get('q') ?? '';
  if (text.trim() === '') throw new ApiFailure(400, 'missing required parameter "q"');
  return readInfluxStatements(text);
}

async function answerOne(asked: InfluxStatement, request: ApiRequest): Promise<Result> {
  try {
    switch (asked.kind) {
      case 'show-databases': {
        const names = (await listDatabases(request)).map(({ name }) => [name]);
        return { series: [{ name: 'databases', columns: ['name'], values: names }] };
      }
      case 'create-database':
        if (asked.name === '') return { error: 'invalid name' };
        if ((await findDatabase(asked.name, request)) === undefined) await createDatabase(asked.name, request);
        return warned(asked.expires);
      case 'create-retention-policy':
      case 'show-retention-policies': {
        if ((await findDatabase(asked.database, request)) === undefined) {
          return { error: `database not found: ${asked.database}` };
        }
        return asked.kind === 'create-retention-policy'
          ? warned(asked.expires)
          : { series: [{ columns: POLICY_COLUMNS, values: [POLICY] }] };
      }
      case 'other':
        return { error: NOT_HERE };
    }
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (isUnavailable(error)) throw databaseFailure(error);
    return { error: databaseText(error) };
  }
}

function warned(expires: boolean): Result {
  return expires ? { messages: [{ level: 'warning', text: NOTHING_EXPIRES }] } : {};
}
