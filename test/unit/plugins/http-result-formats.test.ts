import assert from 'node:assert/strict';
import type { ApiRequest } from '../../../plugins/database-http/route.ts';
import { Page } from '../../../plugins/database-http/statements/page.ts';
import {
  acceptedFormat,
  resultWriter,
  type ResultFormat,
} from '../../../plugins/database-http/statements/result-format.ts';
import { readSqlBody, type SqlBody } from '../../../plugins/database-http/statements/sql-body.ts';

function request(over: { method?: string; query?: string; type?: string; text?: string; user?: string }): ApiRequest {
  return {
    method: over.method ?? 'POST',
    query: new URLSearchParams(over.query ?? ''),
    headers: over.type === undefined ? {} : { 'content-type': over.type },
    text: async () => over.text ?? '',
    login: { user: over.user ?? 'ann', isAdministrator: async () => false },
    database: 'd',
    timeZone: 'UTC',
  } as unknown as ApiRequest;
}

const json = (text: string): Promise<SqlBody> => readSqlBody(request({ type: 'application/json', text }), 10_000);
const plain = (sql: string, limit?: number, continuation?: string): SqlBody => ({
  sql,
  parameters: [],
  limit,
  continuation,
});

describe('the SQL of a request', () => {
  it('is the body, the value of q, or sql of a JSON object with the values of its parameters', async () => {
    const none = { parameters: [], limit: undefined, continuation: undefined };
    assert.deepEqual(await readSqlBody(request({ text: 'select 1' }), 100), { sql: 'select 1', ...none });
    assert.deepEqual(await readSqlBody(request({ method: 'GET', query: 'q=select+1&params=[1,null]' }), 100), {
      ...none,
      sql: 'select 1',
      parameters: ['1', null],
    });
    assert.deepEqual(
      await json('{"sql":"s","params":[1,"1",true,null,1.5,{"a":[1]},[1,"b\\"c",null],[[1],[2]]],"limit":5}'),
      {
        sql: 's',
        parameters: ['1', '1', 'true', null, '1.5', '{"a":[1]}', '{"1","b\\"c",NULL}', '{{"1"},{"2"}}'],
        limit: 5,
        continuation: undefined,
      },
    );
    // Clients that call any text JSON.
    assert.equal((await json('select 1')).sql, 'select 1');
    assert.equal((await readSqlBody(request({ text: '{"sql":1}', type: 'text/plain' }), 100)).sql, '{"sql":1}');
  });

  it('is refused with the error and its place', async () => {
    const refusals: [text: string, reason: RegExp][] = [
      ['{"sql":', /^the body is not JSON: /],
      ['{}', /^sql must be a text/],
      ['{"sql":""}', /^invalid request body$/],
      [
        '{"sql":"s","parameters":[]}',
        /^the body has the unknown key "parameters"; there are sql, params, limit, continuation$/,
      ],
      ['{"sql":"s","params":{}}', /^params must be a list/],
      [
        '{"sql":"s","params":[1,9007199254740993]}',
        /^params\[1\] has more digits than a JSON number keeps here: send it as a text$/,
      ],
      ['{"sql":"s","params":["a\\u0000"]}', /^params\[0\] has a NUL character/],
      [`{"sql":"s","params":[${'['.repeat(8)}1${']'.repeat(8)}]}`, /^params\[0\] has more than 6 dimensions$/],
      ['{"sql":"s","limit":0}', /^limit takes a whole number from 1 to 1000000000, not 0$/],
      ['{"sql":"s","limit":1.5}', /^limit takes/],
      [`{"sql":"${'x'.repeat(10_000)}"}`, /^a statement has at most 10000 characters/],
    ];
    for (const [text, reason] of refusals) await assert.rejects(json(text), { status: 400, message: reason }, text);
    await assert.rejects(readSqlBody(request({ method: 'GET', query: 'q=' }), 10), /invalid request body/);
  });
});

describe('a page of a result', () => {
  const rows = (...values: number[]): [string][] => values.map((value) => [String(value)]);

  it('is queried with one additional row, after the rows of the earlier pages', () => {
    const first = new Page(request({}), plain('select v from t -- all', 2));
    assert.equal(
      first.statement('select v from t -- all', 'select'),
      'SELECT * FROM (select v from t -- all\n) AS sluice_page OFFSET 0 LIMIT 3',
    );
    assert.deepEqual([first.take(rows(1, 2, 3)), first.isFull], [rows(1, 2), true]);
    const token = first.continuation({ rowCount: 2, truncated: false });
    const second = new Page(request({}), plain('select v from t -- all', 2, token));
    assert.match(second.statement('select v from t -- all', 'select'), / OFFSET 2 LIMIT 3$/);
    assert.deepEqual([second.take(rows(3)), second.isFull], [rows(3), false]);
    assert.equal(second.continuation({ rowCount: 1, truncated: false }), undefined);
    const whole = new Page(request({}), plain('select 1'));
    assert.deepEqual([whole.statement('select 1', 'select'), whole.isAsked], ['select 1', false]);
  });

  it('begins after the rows of an answer that was cut off, and skips rows where the statement cannot be queried like this', () => {
    const cut = new Page(request({}), plain('show all'));
    cut.take(rows(1, 2, 3, 4));
    const token = cut.continuation({ rowCount: 3, truncated: true });
    const next = new Page(request({}), plain('show all', undefined, token));
    assert.equal(next.statement('show all', 'show'), 'show all');
    assert.deepEqual([next.take(rows(1, 2)), next.take(rows(3, 4)), next.take(rows(5))], [[], rows(4), rows(5)]);
    assert.equal(cut.continuation({ rowCount: 0, truncated: true }), undefined);
  });

  it('is refused when its token is of another statement, user or parameters', () => {
    const page = new Page(request({}), plain('select 1', 1));
    page.take(rows(1, 2));
    const token = page.continuation({ rowCount: 1, truncated: false }) ?? '';
    for (const [who, body] of [
      ['bob', plain('select 1', 1, token)],
      ['ann', plain('select 2', 1, token)],
      ['ann', { ...plain('select 1', 1, token), parameters: ['1'] }],
      ['ann', plain('select 1', 1, 'x')],
      ['ann', plain('select 1', 1, `${token}x`)],
    ] as const)
      assert.throws(() => new Page(request({ user: who }), body), {
        status: 400,
        message: /^the continuation token belongs to another statement/,
      });
  });
});

describe('the format of a result', () => {
  it('is the one that Accept prefers, otherwise JSON', () => {
    const formats: [string | undefined, ResultFormat][] = [
      [undefined, 'json'],
      ['*/*', 'json'],
      ['text/csv', 'csv'],
      ['Text/CSV; header=present, */*;q=0.1', 'csv'],
      ['application/x-ndjson;q=0.5, text/csv;q=0.4', 'ndjson'],
      ['text/html, application/xhtml+xml, */*;q=0.8', 'json'],
      ['text/csv;q=0', 'json'],
      ['text/csv;q=x, application/jsonl', 'ndjson'],
    ];
    for (const [accept, format] of formats) assert.equal(acceptedFormat(accept), format, accept);
  });

  const fields = [
    { name: 'a,"b"', typeOid: 25, typeModifier: -1 },
    { name: 't', typeOid: 1184, typeModifier: -1 },
    { name: 'n', typeOid: 20, typeModifier: -1 },
    { name: 'ok', typeOid: 16, typeModifier: -1 },
  ];
  const rows = [
    ['x', '2024-05-06 07:08:09.25+02', '9007199254740993', 't'],
    ['', null, null, 'f'],
    ['a "q",\r\n', 'infinity', '-1', null],
  ];
  const written = (format: ResultFormat, int64AsString = false): string => {
    const page = new Page(request({}), plain('s'));
    const writer = resultWriter(format, fields, { int64AsString, maxBytes: 10_000, page });
    return writer.head(0) + writer.rows(rows).toString() + (writer.tail?.() ?? '');
  };

  it('CSV has a line of names, quotes where they are needed, and distinguishes NULL from an empty text', () => {
    assert.equal(
      written('csv'),
      '"a,""b""",t,n,ok\r\nx,2024-05-06T07:08:09.25+02:00,9007199254740993,true\r\n"",,,false\r\n"a ""q"",\r\n",infinity,-1,\r\n',
    );
  });

  it('NDJSON has an object in each line, with all digits', () => {
    assert.equal(
      written('ndjson', true),
      '{"a,\\"b\\"":"x","t":"2024-05-06T07:08:09.25+02:00","n":"9007199254740993","ok":true}\n' +
        '{"a,\\"b\\"":"","t":null,"n":null,"ok":false}\n' +
        '{"a,\\"b\\"":"a \\"q\\",\\r\\n","t":"infinity","n":"-1","ok":null}\n',
    );
  });
});
