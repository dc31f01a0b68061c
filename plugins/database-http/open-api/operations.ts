import { arrayOf, objectOf, type Content, type JsonSchema, type QueryParameter } from '../../../src/index.ts';
import { ref, text, type ANSWER_SCHEMAS } from './answer-schemas.ts';

type SchemaName = keyof typeof ANSWER_SCHEMAS;

/** What the OpenAPI description says of a route. */
export interface Operation {
  readonly summary: string;
  readonly tag: 'sessions' | 'SQL' | 'rows' | 'InfluxDB' | 'OpenTSDB' | 'QuestDB' | 'API';
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** By content type. */
  readonly body?: Readonly<Record<string, JsonSchema>>;
  /** By status. */
  readonly answers: Readonly<Record<number, Content>>;
  /** The body of failures. */
  readonly failure: SchemaName;
}

const parameter = (description: string, schema: JsonSchema = text): QueryParameter => ({ description, schema });
const json = (name: SchemaName): Readonly<Record<string, JsonSchema>> => ({ 'application/json': ref(name) });
const anyJson = (...names: readonly SchemaName[]): Readonly<Record<string, JsonSchema>> => ({
  'application/json': { anyOf: names.map(ref) },
});

const database = parameter('The database; without it, `database.http.default.database`');
const zone = parameter('The time zone of times without one: a name, hours east of UTC, or an offset');
const nanoseconds = parameter('What becomes of nanoseconds', { enum: ['floor', 'spread', 'column'] });
const valueType = parameter('The type of the value column of new tables', { enum: ['VARCHAR', 'FLOAT8', 'auto'] });
const unit = parameter('The unit of the times');
const paging = {
  limit: parameter('Rows of a page', { type: 'integer', minimum: 1, maximum: 1_000_000_000 }),
  continuation: parameter('The token of the page before'),
  int64: parameter('`string`: 64-bit integers are texts', { enum: ['string'] }),
};
const sqlWithParameters = (example: string, paged: boolean): Readonly<Record<string, JsonSchema>> => ({
  'text/plain': { type: 'string', examples: [example] },
  'application/json': objectOf({
    sql: { type: 'string', minLength: 1, description: 'One statement, with $1, $2 …' },
    'params?': arrayOf({}),
    ...(paged
      ? { 'limit?': { type: ['integer', 'null'], minimum: 1 }, 'continuation?': { type: ['string', 'null'] } }
      : {}),
  }),
});
const lines = { 'text/plain': { type: 'string', examples: ['weather,site=oslo temp=4 1700000000000000000'] } };
const pointLines = { 'text/plain': { type: 'string', examples: ['sys.load 1700000000 0.5 host=a'] } };
const points: Readonly<Record<string, JsonSchema>> = {
  'application/json': {
    anyOf: [ref('Point'), arrayOf(ref('Point'))],
  },
};
const credentials = {
  u: parameter('The user, instead of the header Authorization'),
  p: parameter('The password, instead of the header Authorization'),
};
const queryAnswers = {
  200: { ...json('Query'), 'text/csv': text, 'application/x-ndjson': text },
  500: json('QueryFailure'),
};

/** Every route of the API, by method and path. A test compares them. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /restapi/login': {
    summary: 'A token for user and password',
    tag: 'sessions',
    answers: { 200: json('Login') },
    failure: 'Failure',
  },
  'GET /restapi/session': {
    summary: 'The own sessions; all of them for administrators',
    tag: 'sessions',
    answers: { 200: json('Sessions') },
    failure: 'Failure',
  },
  'DELETE /restapi/session': {
    summary: 'End the session whose id is the body; without a body, the session of the token',
    tag: 'sessions',
    body: { 'text/plain': text },
    answers: { 200: json('Deleted') },
    failure: 'Failure',
  },
  'POST /restapi/ddl': {
    summary: 'Run statements that define, change or delete; each for itself',
    tag: 'SQL',
    query: { db: database, tz: zone },
    body: sqlWithParameters('create table if not exists described (a int)', false),
    answers: { 200: json('Ddl'), 500: json('Ddl') },
    failure: 'Ddl',
  },
  'POST /restapi/insert': {
    summary: 'Run INSERT statements, each for itself',
    tag: 'SQL',
    query: { db: database, tz: zone },
    body: sqlWithParameters('insert into described values (1)', false),
    answers: { 200: json('Insert'), 500: json('Insert') },
    failure: 'Insert',
  },
  'GET /restapi/query': {
    summary: 'Run one statement that reads',
    tag: 'SQL',
    query: {
      q: parameter('The statement', { type: 'string', examples: ['select 1'] }),
      params: parameter('The values of $1, $2 … as a JSON list'),
      db: database,
      tz: zone,
      ...paging,
    },
    answers: queryAnswers,
    failure: 'QueryFailure',
  },
  'POST /restapi/query': {
    summary: 'Run one statement that reads',
    tag: 'SQL',
    query: { db: database, tz: zone, ...paging },
    body: sqlWithParameters('select 1', true),
    answers: queryAnswers,
    failure: 'QueryFailure',
  },
  'POST /restapi/linedb': {
    summary: 'Store lines of line protocol; tables are created and get columns',
    tag: 'rows',
    query: { db: database, tz: zone, precision: unit, nanoseconds },
    body: lines,
    answers: { 200: json('Ingest') },
    failure: 'Ingest',
  },
  'POST /restapi/collector': {
    summary: 'Store lines of line protocol in tables that exist',
    tag: 'rows',
    query: { db: database, precision: unit, nanoseconds },
    body: lines,
    answers: { 200: json('Ingest') },
    failure: 'Ingest',
  },
  'POST /restapi/tsdbjson': {
    summary: 'Store points in JSON',
    tag: 'rows',
    query: { db: database, tz: zone, 'value.type': valueType, nanoseconds },
    body: points,
    answers: { 200: json('Ingest') },
    failure: 'Ingest',
  },
  'POST /restapi/tsdbtelnet': {
    summary: 'Store points in lines',
    tag: 'rows',
    query: { db: database, tz: zone, 'value.type': valueType, nanoseconds },
    body: pointLines,
    answers: { 200: json('Ingest') },
    failure: 'Ingest',
  },
  'POST /write': {
    summary: 'Store lines, as InfluxDB 1 and QuestDB do',
    tag: 'InfluxDB',
    query: { db: database, precision: unit, nanoseconds, ...credentials },
    body: lines,
    answers: { 204: null },
    failure: 'InfluxError',
  },
  'POST /api/v2/write': {
    summary: 'Store lines, as InfluxDB 2 does',
    tag: 'InfluxDB',
    query: { bucket: database, precision: unit, nanoseconds },
    body: lines,
    answers: { 204: null },
    failure: 'Influx2Error',
  },
  'POST /api/v3/write_lp': {
    summary: 'Store lines, as InfluxDB 3 does',
    tag: 'InfluxDB',
    query: {
      db: database,
      precision: unit,
      nanoseconds,
      accept_partial: parameter('`false`: all lines are stored or none', { type: 'boolean' }),
    },
    body: lines,
    answers: { 204: null },
    failure: 'Influx3Error',
  },
  'GET /query': {
    summary: 'The statements that clients of InfluxDB 1 send before they write',
    tag: 'InfluxDB',
    query: { q: parameter('Statements of InfluxQL', { type: 'string', examples: ['SHOW DATABASES'] }), ...credentials },
    answers: { 200: json('InfluxResults') },
    failure: 'InfluxError',
  },
  'POST /query': {
    summary: 'The statements that clients of InfluxDB 1 send before they write',
    tag: 'InfluxDB',
    query: { ...credentials },
    body: { 'application/x-www-form-urlencoded': objectOf({ q: text }) },
    answers: { 200: json('InfluxResults') },
    failure: 'InfluxError',
  },
  'POST /api/v2/signin': {
    summary: 'A session as a cookie for user and password',
    tag: 'InfluxDB',
    answers: { 204: null },
    failure: 'Influx2Error',
  },
  'POST /api/v2/signout': {
    summary: 'End the session of the cookie',
    tag: 'InfluxDB',
    answers: { 204: null },
    failure: 'Influx2Error',
  },
  'GET /api/v2/buckets': {
    summary: 'The databases that the user may connect to',
    tag: 'InfluxDB',
    query: { name: parameter('The one that is looked for') },
    answers: { 200: json('Buckets') },
    failure: 'Influx2Error',
  },
  'POST /api/v2/buckets': {
    summary: 'Create a database',
    tag: 'InfluxDB',
    body: {
      'application/json': {
        type: 'object',
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 63 },
          orgID: text,
          retentionRules: { type: 'array' },
        },
        required: ['name'],
      },
    },
    answers: { 201: json('Bucket') },
    failure: 'Influx2Error',
  },
  'GET /api/v2/orgs': {
    summary: 'The one organization, with the name that was asked for',
    tag: 'InfluxDB',
    query: { org: parameter('Any name') },
    answers: { 200: json('Organizations') },
    failure: 'Influx2Error',
  },
  'GET /ping': {
    summary: 'Whether the API answers',
    tag: 'InfluxDB',
    query: { verbose: parameter('Any value but `false` and `0`: with the version') },
    answers: { 200: json('Version'), 204: null },
    failure: 'Failure',
  },
  'GET /health': {
    summary: 'Whether the database server takes connections',
    tag: 'InfluxDB',
    answers: { 200: json('Health'), 503: json('Health') },
    failure: 'Failure',
  },
  'GET /settings': {
    summary: 'What clients of QuestDB ask before they write',
    tag: 'QuestDB',
    answers: { 200: json('Settings') },
    failure: 'Failure',
  },
  'POST /api/put': {
    summary: 'Store points in JSON, as OpenTSDB does',
    tag: 'OpenTSDB',
    query: {
      db: database,
      summary: parameter('With counts'),
      details: parameter('With counts and the points that could not be stored'),
      'value.type': valueType,
      nanoseconds,
      tz: zone,
    },
    body: points,
    answers: {
      200: anyJson('PutCounts', 'PutDetails'),
      204: null,
      400: anyJson('PutCounts', 'PutDetails', 'PutError', 'Failure'),
    },
    failure: 'PutError',
  },
  'GET /api/version': {
    summary: 'What clients of OpenTSDB ask before they write',
    tag: 'OpenTSDB',
    answers: { 200: json('Version') },
    failure: 'Failure',
  },
  'GET /openapi.json': {
    summary: 'This description',
    tag: 'API',
    answers: { 200: { 'application/json': { type: 'object' } } },
    failure: 'Failure',
  },
};
