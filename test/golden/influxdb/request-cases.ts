/**
 * Responses of InfluxDB 1.6 to requests that clients send before they write. `DB` is a database; `NONE` is a name that none has.
 */
export interface InfluxRequestCase {
  readonly name: string;
  /** `/write` or `/query`; the body of the latter is `q`. */
  readonly path: '/write' | '/query';
  readonly database?: string;
  readonly body: string;
  readonly status: number;
  readonly answer: unknown;
}

const nothing = (count: number): unknown => ({
  results: Array.from({ length: count }, (_, index) => ({ statement_id: index })),
});
const failed = (error: string): unknown => ({ results: [{ statement_id: 0, error }] });
const unread = (text: string): unknown => ({ error: `error parsing query: ${text}` });
const databases = { name: 'databases', columns: ['name'], values: [['DB']] };

export const REQUEST_CASES: readonly InfluxRequestCase[] = [
  {
    name: 'lines for a database that is missing',
    path: '/write',
    database: 'NONE',
    body: 'm v=1',
    status: 404,
    answer: { error: 'database not found: "NONE"' },
  },
  {
    name: 'lines for a database that is missing, one of them bad',
    path: '/write',
    database: 'NONE',
    body: 'bad\nm v=1',
    status: 404,
    answer: { error: 'database not found: "NONE"' },
  },
  { name: 'a new database', path: '/query', body: 'CREATE DATABASE "DB"', status: 200, answer: nothing(1) },
  {
    name: 'several statements',
    path: '/query',
    body: ';; create database DB ; SHOW DATABASES -- all; of them\n;/* none; */',
    status: 200,
    answer: { results: [{ statement_id: 0 }, { statement_id: 1, series: [databases] }] },
  },
  {
    name: 'a retention policy',
    path: '/query',
    body: 'CREATE RETENTION POLICY "two" ON "DB" DURATION INF REPLICATION 1 SHARD DURATION 1h; CREATE DATABASE DB',
    status: 200,
    answer: nothing(2),
  },
  {
    name: 'a retention policy of a database that is missing',
    path: '/query',
    body: 'CREATE RETENTION POLICY two ON "NONE" DURATION 2h REPLICATION 1',
    status: 200,
    answer: failed('database not found: NONE'),
  },
  {
    name: 'the retention policies of a database that is missing',
    path: '/query',
    body: 'SHOW RETENTION POLICIES ON NONE',
    status: 200,
    answer: failed('database not found: NONE'),
  },
  {
    name: 'a database without a name',
    path: '/query',
    body: 'CREATE DATABASE ""',
    status: 200,
    answer: failed('invalid name'),
  },
  {
    name: 'what is no statement',
    path: '/query',
    body: 'CREATE DATABASE DB; bogus',
    status: 400,
    answer: unread(
      'found bogus, expected SELECT, DELETE, SHOW, CREATE, DROP, EXPLAIN, GRANT, REVOKE, ALTER, SET, KILL at line 1, char 21',
    ),
  },
  {
    name: 'half a statement',
    path: '/query',
    body: 'CREATE DATABASE',
    status: 400,
    answer: unread('found EOF, expected identifier at line 1, char 17'),
  },
  {
    name: 'a statement with too much',
    path: '/query',
    body: 'SHOW DATABASES; SHOW DATABASES b',
    status: 400,
    answer: unread('found b, expected ; at line 1, char 32'),
  },
  {
    name: 'settings without any',
    path: '/query',
    body: 'CREATE DATABASE q WITH',
    status: 400,
    answer: unread('found EOF, expected DURATION, NAME, REPLICATION, SHARD at line 1, char 24'),
  },
  { name: 'no statement', path: '/query', body: ';', status: 200, answer: {} },
  { name: 'nothing', path: '/query', body: ' ', status: 400, answer: { error: 'missing required parameter "q"' } },
];
