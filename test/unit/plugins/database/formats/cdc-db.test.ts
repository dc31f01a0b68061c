import assert from 'node:assert/strict';
import type { Origin } from '../../../../../src/data/fault.ts';
import { CdcDbDecoder, type CdcDbPolicy } from '../../../../../plugins/database/formats/json-db/cdc-db.ts';
import { partsOf, type Decoded } from '../../../../../plugins/database/formats/format.ts';
import { columnsOf, rowsOf } from './rows-of.ts';

const RECORD: Origin = { kind: 'record', topic: 'changes', partition: 0, offset: 4 };
const NAMES = ['ts', 'n', 'name'];
const TYPES = ['TIMESTAMPTZ(3)', 'INT8', 'VARCHAR(64)'];

/** An insert of these rows, written as JSON text, with these members instead of the usual ones. */
function insert(rows: string, members: Record<string, unknown> = {}): string {
  const head = { kind: 'insert', database: 'plant', schema: 'public', table: 'meters', ...members };
  return JSON.stringify({ ...head, columnnames: NAMES, columntypes: TYPES, ...members }).replace(
    /\}$/,
    `,"columnvalues":[${rows}]}`,
  );
}

function statement(kind: string, sql: string, members: Record<string, unknown> = {}): string {
  return JSON.stringify({ kind, database: 'plant', schema: 'public', table: 'meters', statement: sql, ...members });
}

function decode(messages: readonly (string | Uint8Array)[], policy: CdcDbPolicy = {}): Decoded {
  const decoder = new CdcDbDecoder(policy);
  for (const message of messages) decoder.add(message, RECORD);
  return decoder.take();
}

function problem(message: string | Uint8Array, policy: CdcDbPolicy = {}): string | undefined {
  const { rows, faults, parts } = decode([message], policy);
  assert.equal(rows.length, 0, String(message));
  assert.equal(parts, undefined, String(message));
  assert.equal(faults.length, 1, String(message));
  return faults[0]?.message.replace(/^cdc_db: /, '');
}

/** The decoded operations in order: rows as their first column, statements as SQL. */
function orderOf(decoded: Decoded): unknown[] {
  return partsOf(decoded).map((part) =>
    part.kind === 'rows' ? part.rows.batch.columns[1]?.cells : part.statement.sql,
  );
}

describe('a cdc_db message with rows', () => {
  it('becomes rows of its table, read by the types that it names', () => {
    const { rows, faults, parts } = decode([
      insert('[1700000000123,9223372036854775807,"a"],[1700000000124,null,null]'),
      insert('["2023-11-14 22:13:20+00",3,"c"]', { kind: 'snapshot' }),
    ]);
    assert.deepEqual(faults, []);
    assert.equal(parts, undefined);
    assert.equal(rows.length, 1);
    const { batch, shape } = rows[0] ?? {};
    assert.equal(shape, undefined);
    assert.deepEqual(batch?.table, { schema: 'public', name: 'meters' });
    assert.deepEqual(columnsOf(batch), ['ts time data', 'n int data', 'name text data']);
    assert.deepEqual(rowsOf(batch), [
      { ts: 1_700_000_000_123_000, n: 9223372036854775807n, name: 'a' },
      { ts: 1_700_000_000_124_000, n: null, name: null },
      { ts: 1_700_000_000_000_000, n: 3, name: 'c' },
    ]);
    assert.deepEqual(batch.origins.at(0), RECORD);
  });

  it('has times in the configured unit, and a table without schema if it names none', () => {
    const { rows } = decode([insert('[1700000000123456,1,"a"]', { schema: '' })], { precision: 'us' });
    assert.deepEqual(rows[0]?.batch.table, { name: 'meters' });
    assert.deepEqual(rows[0].batch.columns[0]?.cells, [1_700_000_000_123_456]);
  });

  it('starts a new batch where its columns change, in order', () => {
    const narrow = (row: string) => insert(row, { columnnames: NAMES.slice(0, 2), columntypes: TYPES.slice(0, 2) });
    const { rows } = decode([
      insert('[1,1,"a"]'),
      insert('[1,2,"b"]', { table: 'other' }),
      narrow('[1,3]'),
      narrow('[1,4]'),
      insert('[1,5,"c"]'),
    ]);
    assert.deepEqual(
      rows.map(({ batch }) => [batch.table.name, batch.columns[1]?.cells]),
      [
        ['meters', [1]],
        ['other', [2]],
        ['meters', [3, 4]],
        ['meters', [5]],
      ],
    );
  });

  it('skips a row that does not fit, with the reason', () => {
    const { rows, faults } = decode([
      insert('[1,1,"a"],[1,2],[1,3,"c","d"],[1,"x","d"],5,{},[],[1,99999999999999999999,"e"],[1,6,"f"]'),
    ]);
    assert.deepEqual(rows[0]?.batch.columns[1]?.cells, [1, 6]);
    const wrongCount = 'a row must have as many values as "columnnames" has names, 3';
    assert.deepEqual(
      faults.map(({ message, column }) => [message.replace('cdc_db: ', ''), column]),
      [
        [`row 2 of the message: ${wrongCount}`, undefined],
        [`row 3 of the message: ${wrongCount}`, undefined],
        ['row 4 of the message: a string is not a value of type INT8', 'n'],
        ['row 5 of the message: a row must be an array of values, not number', undefined],
        ['row 6 of the message: a row must be an array of values, not object', undefined],
        [`row 7 of the message: ${wrongCount}`, undefined],
        ['row 8 of the message: "99999999999999999999" is out of range', 'n'],
      ],
    );
    assert.deepEqual([faults[0]?.origin, faults[0]?.table], [RECORD, 'meters']);
  });
});

describe('a cdc_db message with a statement', () => {
  it('is between the rows before and after it', () => {
    const decoded = decode([
      insert('[1,1,"a"]'),
      insert('[1,2,"b"]'),
      statement('alter', 'ALTER TABLE meters ADD COLUMN x int4'),
      statement('delete', 'DELETE FROM meters WHERE n = 1'),
      insert('[1,3,"c"]'),
      insert('[1,4,"d"]', { table: 'other' }),
      insert('[1,5,"e"]'),
    ]);
    assert.deepEqual(decoded.faults, []);
    assert.deepEqual(orderOf(decoded), [
      [1, 2],
      'ALTER TABLE meters ADD COLUMN x int4',
      'DELETE FROM meters WHERE n = 1',
      [3, 5],
      [4],
    ]);
    assert.equal(decoded.rows.length, 3);
    const [, part] = partsOf(decoded);
    assert.deepEqual(part, {
      kind: 'statement',
      statement: {
        sql: 'ALTER TABLE meters ADD COLUMN x int4',
        kind: 'alter',
        schema: 'public',
        table: 'meters',
        origin: RECORD,
      },
    });
  });

  it('counts as a pending row, and is taken once', () => {
    const decoder = new CdcDbDecoder();
    for (const kind of ['update', 'delete', 'create', 'alter', 'drop']) decoder.add(statement(kind, 'X'), RECORD);
    assert.equal(decoder.rowCount, 5);
    const decoded = decoder.take();
    assert.deepEqual(decoded.rows, []);
    assert.equal(decoded.parts?.length, 5);
    assert.equal(decoder.rowCount, 0);
    decoder.add(insert('[1,1,"a"]'), RECORD);
    assert.deepEqual(orderOf(decoder.take()), [[1]]);
  });

  it('needs only its database and its text', () => {
    const { parts } = decode(['{"kind":"drop","database":"plant","statement":"DROP TABLE x","columnvalues":null}']);
    const [part] = parts ?? [];
    assert.ok(part?.kind === 'statement');
    assert.deepEqual([part.statement.schema, part.statement.table], [undefined, undefined]);
  });
});

describe('a cdc_db message that cannot be read', () => {
  it('is one fault with the reason, and leaves no row', () => {
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /^the message is empty$/],
      ['[]', /^not JSON at character 1/],
      [insert('[1,1,"a"]').slice(0, -3), /^the JSON ends too early/],
      [`${insert('[1,1,"a"]')}{}`, /^not JSON at character \d+, "\{\}"$/],
      [insert('[1,1,"a"],'), /^not JSON at character /],
      [insert('[1,1,"a" 2]'), /^not JSON at character /],
      [Buffer.from([0xff]), /^the message is not UTF-8$/],
      ['{"database":"plant"}', /^the message has no "kind"$/],
      ['{"kind":"insert"}', /^the message has no "database"$/],
      [statement('truncate', 'X'), /^"kind" must be one of insert, snapshot, update, delete, create, alter, drop$/],
      [statement('update', ' '), /^the message is of kind update and has no "statement"$/],
      [statement('insert', 'X'), /^the message is of kind insert and has no "columnvalues"$/],
      [insert('', { table: null }), /^the message is of kind insert and has no "table"$/],
      [insert('', { columnnames: [] }), /^the message is of kind insert and has no "columnnames"$/],
      [insert('', { columntypes: ['INT8'] }), /^"columnnames" has 3 names and "columntypes" 1 types$/],
      [insert('', { columnnames: ['a', 'b', 'a'] }), /^the column "a" of table meters is listed twice$/],
      [insert('', { columnnames: ['a', 5, 'c'] }), /^"columnnames\[1\]" must be string$/],
      [insert('').replace('"columnvalues":[]', '"columnvalues":{}'), /^"columnvalues" must be an array of rows/],
      [insert('').replace('{', '{"kind":"drop",'), /^the key "kind" occurs twice$/],
    ];
    for (const [message, reason] of cases) assert.match(problem(message) ?? '', reason, String(message));
  });

  it('is one for another database', () => {
    const reason =
      'the message is for database "plant", but the sink writes to "other"; changes can only be applied to a database of the same name';
    for (const message of [insert('[1,1,"a"]'), statement('drop', 'DROP TABLE meters')]) {
      assert.equal(problem(message, { database: 'other' }), reason);
      assert.deepEqual(decode([message], { database: 'plant' }).faults, []);
    }
  });
});
