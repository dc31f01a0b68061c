import { createDatabase, findDatabase, listDatabases, type DatabaseEntry } from './databases.ts';
import { INFLUX_HEADERS, secondVersionBody } from './influx.ts';
import { withAliasStatus } from './alias-status.ts';
import { DatabaseError } from '../../database/index.ts';
import { databaseFailure } from '../database-failure.ts';
import { ApiFailure, jsonAnswer, type ApiAnswer, type ApiRequest, type Route } from '../route.ts';

/** There are no organizations here: clients ask for the identifier of theirs before they write, and get this one. */
const ORGANIZATION_ID = '0000000000000001';
const DEFAULT_ORGANIZATION = 'sluice';
/** A description of a bucket is shorter. */
const MAX_BUCKET_LENGTH = 100_000;

/** What clients of InfluxDB 2 ask before they write: buckets, which are databases, and organizations. All else below `/api/v2/` is 404. */
export function influxV2Aliases(): Route[] {
  return [
    {
      methods: ['GET', 'POST'],
      path: '/api/v2/buckets',
      credentials: 'any',
      databaseParameters: [],
      handle: async (request) => (request.method === 'GET' ? listBuckets(request) : createBucket(request)),
      failure: secondVersionFailure,
    },
    {
      methods: ['GET'],
      path: '/api/v2/orgs',
      credentials: 'any',
      databaseParameters: [],
      handle: async ({ query }) => {
        const orgs = [{ id: ORGANIZATION_ID, name: query.get('org') ?? DEFAULT_ORGANIZATION }];
        return jsonAnswer(200, { links: { self: '/api/v2/orgs' }, orgs }, INFLUX_HEADERS);
      },
      failure: secondVersionFailure,
    },
    {
      methods: [],
      path: '/api/v2/',
      isPrefix: true,
      access: 'anyone',
      handle: async () => {
        throw new ApiFailure(404, 'path not found');
      },
      failure: secondVersionFailure,
    },
  ];
}

/** A failure as InfluxDB 2 answers it: `{code, message}`, both text. */
export function secondVersionFailure(failure: ApiFailure): ApiAnswer {
  const { status, message } = withAliasStatus(failure);
  return jsonAnswer(status, secondVersionBody(status, message, undefined), INFLUX_HEADERS);
}

async function listBuckets(request: ApiRequest): Promise<ApiAnswer> {
  const name = request.query.get('name');
  const all = await inDatabaseWords(listDatabases(request));
  const buckets = all.filter((each) => name === null || each.name === name).map(bucketOf);
  return jsonAnswer(200, { links: { self: '/api/v2/buckets' }, buckets }, INFLUX_HEADERS);
}

async function createBucket(request: ApiRequest): Promise<ApiAnswer> {
  const name = readBucketName(await request.text());
  if ((await inDatabaseWords(findDatabase(name, request))) !== undefined) {
    const body = { code: 'conflict', message: `bucket with name ${name} already exists` };
    return jsonAnswer(422, body, INFLUX_HEADERS);
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
  const name: unknown = typeof body === 'object' && body !== null && 'name' in body ? body.name : undefined;
  if (typeof name !== 'string' || name === '' || name.includes('\0')) throw refused;
  return name;
}

/** No rows are deleted by age here: the list of rules is empty, whatever was asked for. */
function bucketOf({ name, oid }: DatabaseEntry): unknown {
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
