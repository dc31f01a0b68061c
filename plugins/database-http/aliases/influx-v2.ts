import {
  ANY,
  arrayOf,
  component,
  limited,
  literalOf,
  objectOf,
  TEXT,
  validatorOf,
  withKeywords,
  withMore,
  type ShapeOf,
} from '../../../src/index.ts';
import { createDatabase, findDatabase, listDatabases, type DatabaseEntry } from './databases.ts';
import { INFLUX_2_ERROR, INFLUX_HEADERS, secondVersionBody } from './influx.ts';
import { withAliasStatus } from './alias-status.ts';
import { DatabaseError } from '../../database/index.ts';
import { databaseFailure } from '../database-failure.ts';
import { json } from '../open-api/shared-schemas.ts';
import { ApiFailure, jsonAnswer, type ApiAnswer, type ApiRequest, type FailureForm, type Route } from '../route.ts';

/** Organizations do not exist here. Clients that request the id of an organization before they write get this id. */
const ORGANIZATION_ID = '0000000000000001';
const DEFAULT_ORGANIZATION = 'sluice';
/** Limit of the body that describes a new bucket, in characters. */
const MAX_BUCKET_LENGTH = 100_000;

const BUCKET = component(
  'Bucket',
  objectOf({
    id: TEXT,
    orgID: TEXT,
    type: literalOf('user'),
    name: TEXT,
    retentionRules: limited(arrayOf(ANY), 0),
  }),
);
const LINKS = objectOf({ self: TEXT });
const BUCKETS = component('Buckets', objectOf({ links: LINKS, buckets: arrayOf(BUCKET) }));
const ORGANIZATIONS = component(
  'Organizations',
  objectOf({ links: LINKS, orgs: arrayOf(objectOf({ id: TEXT, name: TEXT })) }),
);

/** Only the name of a new bucket is read. PostgreSQL checks its length; the other members have no meaning here. */
const NAMED = withMore(objectOf({ name: withKeywords(TEXT, { minLength: 1, pattern: '^[^\\0]*$' }) }));
const NEW_BUCKET = withMore(
  objectOf({
    name: withKeywords(TEXT, { minLength: 1, maxLength: 63 }),
    'orgID?': TEXT,
    'retentionRules?': arrayOf(ANY),
  }),
);
const isNamed = validatorOf(NAMED);

/** Form of failures in InfluxDB 2: `{code, message}`, both strings. */
export const SECOND_VERSION_FAILURE: FailureForm = {
  schema: INFLUX_2_ERROR,
  answer: (failure) => {
    const { status, message } = withAliasStatus(failure);
    return jsonAnswer(status, secondVersionBody(status, message), INFLUX_HEADERS);
  },
};

/**
 * Paths that clients of InfluxDB 2 request before they write: buckets, which are databases, and organizations. Paths
 * under `/api/v2/` that have no route return 404.
 */
export function influxV2Aliases(): Route[] {
  const common = {
    tag: 'InfluxDB',
    failure: SECOND_VERSION_FAILURE,
    credentials: 'any',
    databaseParameters: [],
  } as const;
  return [
    {
      ...common,
      method: 'GET',
      path: '/api/v2/buckets',
      summary: 'The databases that the user may connect to',
      query: { name: { description: 'Only the database with this name', schema: TEXT } },
      answers: { 200: json(BUCKETS) },
      handle: listBuckets,
    },
    {
      ...common,
      method: 'POST',
      path: '/api/v2/buckets',
      summary: 'Create a database',
      body: json(NEW_BUCKET),
      answers: { 201: json(BUCKET) },
      handle: createBucket,
    },
    {
      ...common,
      method: 'GET',
      path: '/api/v2/orgs',
      summary: 'The only organization, with the requested name',
      query: { org: { description: 'Any name', schema: TEXT } },
      answers: { 200: json(ORGANIZATIONS) },
      handle: async ({ query }) => {
        const orgs = [{ id: ORGANIZATION_ID, name: query.get('org') ?? DEFAULT_ORGANIZATION }];
        const body = { links: { self: '/api/v2/orgs' }, orgs };
        return jsonAnswer<ShapeOf<typeof ORGANIZATIONS>>(200, body, INFLUX_HEADERS);
      },
    },
    { prefix: '/api/v2/', failure: SECOND_VERSION_FAILURE },
  ];
}

async function listBuckets(request: ApiRequest): Promise<ApiAnswer> {
  const name = request.query.get('name');
  const all = await inDatabaseWords(listDatabases(request));
  const buckets = all.filter((each) => name === null || each.name === name).map(bucketOf);
  const body = { links: { self: '/api/v2/buckets' }, buckets };
  return jsonAnswer<ShapeOf<typeof BUCKETS>>(200, body, INFLUX_HEADERS);
}

async function createBucket(request: ApiRequest): Promise<ApiAnswer> {
  const name = readBucketName(await request.text());
  if ((await inDatabaseWords(findDatabase(name, request))) !== undefined) {
    const body = { code: 'conflict', message: `bucket with name ${name} already exists` };
    return jsonAnswer<ShapeOf<typeof INFLUX_2_ERROR>>(422, body, INFLUX_HEADERS);
  }
  await inDatabaseWords(createDatabase(name, request));
  const made = await inDatabaseWords(findDatabase(name, request));
  return jsonAnswer(201, bucketOf(made ?? { name, oid: '0' }), INFLUX_HEADERS);
}

function readBucketName(text: string): string {
  const refused = new ApiFailure(400, 'the body must be a JSON object with the name of the bucket: {"name": "…"}');
  if (text.length > MAX_BUCKET_LENGTH) throw refused;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw refused;
  }
  if (!isNamed(body)) throw refused;
  return body.name;
}

/** A database as a bucket. Rows are not deleted by age, so the list of rules is empty regardless of the request. */
function bucketOf({ name, oid }: DatabaseEntry): ShapeOf<typeof BUCKET> {
  const id = BigInt(oid).toString(16).padStart(16, '0');
  return { id, orgID: ORGANIZATION_ID, type: 'user', name, retentionRules: [] };
}

async function inDatabaseWords<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof DatabaseError ? databaseFailure(error) : error;
  }
}
