import { DatabaseError, isUnavailable } from '../../database/index.ts';
import { databaseFailure, databaseText } from '../database-failure.ts';
import { createDatabase, findDatabase, listDatabases } from './databases.ts';
import { INFLUX_HEADERS } from './influx.ts';
import { readInfluxStatements, type InfluxStatement } from './influx-statements.ts';
import { withAliasStatus } from './alias-status.ts';
import { ApiFailure, jsonAnswer, type ApiRequest, type Route } from '../route.ts';

interface Series {
  readonly name?: string;
  readonly columns: readonly string[];
  readonly values?: readonly (readonly unknown[])[];
}

/** What InfluxDB 1 answers to one statement, beside its number. */
interface Result {
  readonly series?: readonly Series[];
  readonly messages?: readonly { readonly level: 'warning'; readonly text: string }[];
  readonly error?: string;
}

const NOT_HERE =
  'only SHOW DATABASES, CREATE DATABASE, CREATE RETENTION POLICY and SHOW RETENTION POLICIES are answered here; send SQL to POST /restapi/query';
const NOTHING_EXPIRES = 'rows are not deleted by age here: the duration is ignored';
/** The policy that each database of InfluxDB has: columns as it shows them. */
const POLICY_COLUMNS = ['name', 'duration', 'shardGroupDuration', 'replicaN', 'default'];
const POLICY = ['autogen', '0s', '168h0m0s', 1, true];

/**
 * `/query` of InfluxDB 1, as far as its clients and Telegraf need it before they write. The statements of a request run one after the
 * other; an error of one comes with status 200 at its number, and those behind it are `not executed`, as InfluxDB has it.
 */
export function influxQueryAlias(): Route {
  return {
    methods: ['GET', 'POST'],
    path: '/query',
    credentials: 'any',
    // `db` may be what is to be created.
    databaseParameters: [],
    handle: async (request) => {
      const statements = await readStatements(request);
      const results: unknown[] = [];
      let hasFailed = false;
      for (const [index, asked] of statements.entries()) {
        const result: Result = hasFailed ? { error: 'not executed' } : await answerOne(asked, request);
        hasFailed ||= result.error !== undefined;
        results.push({ statement_id: index, ...result });
      }
      return jsonAnswer(200, results.length === 0 ? {} : { results }, INFLUX_HEADERS);
    },
    failure: (failure) => {
      const { status, message } = withAliasStatus(failure);
      return jsonAnswer(status, { error: message }, INFLUX_HEADERS);
    },
  };
}

/** `q` in the URL or in a form, as clients send either. */
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
