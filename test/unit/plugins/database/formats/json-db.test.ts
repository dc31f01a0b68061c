import assert from 'node:assert/strict';
import type { Origin } from '../../../../../src/data/fault.ts';
import { JsonDbDecoder, type JsonDbPolicy } from '../../../../../plugins/database/formats/json-db/json-db.ts';
import { columnsOf, rowsOf } from './rows-of.ts';

const RECORD: Origin = { kind: 'record', topic: 'rows', partition: 1, offset: 9 };

const COLUMNS = [
  { name: 'ts', type: 'TIMESTAMPTZ', length: 64 },
  { name: 'n', type: 'INT8', length: 64 },
  { name: 'v', type: 'FLOAT8', length: 64 },
];
const TAGS = [
  { name: 'site', type: 'VARCHAR', length: 64, primary: true, nullable: false },
  { name: 'rack', type: 'VARCHAR', length: 32, primary: false, nullable: true },
];

function message(rows: string, columns: unknown = COLUMNS, tags: unknown = TAGS, table: unknown = 't'): string {
  return `{"table":${JSON.stringify(table)},"columns":${JSON.stringify(columns)},"tags":${JSON.stringify(tags)},"data":[${rows}]}`;
}

/** A message with one column `x` of this type after the time, and one row with this text as its value. */
function typed(type: string, value: string): string {
  return message(`{"ts":1,"x":${value}}`, [COLUMNS[0], { name: 'x', type, length: 0 }], []);
}

function decode(messages: readonly (string | Uint8Array)[], policy: JsonDbPolicy = {}) {
  const decoder = new JsonDbDecoder(policy);
  for (const text of messages) decoder.add(text, RECORD);
  return decoder.take();
}

function problems(...messages: (string | Uint8Array)[]): string[] {
  return decode(messages).faults.map((fault) => fault.message.replace(/^json_db: /, ''));
}

function cell(type: string, value: string, policy: JsonDbPolicy = {}): unknown {
  const { rows, faults } = decode([typed(type, value)], policy);
  const column = rows[0]?.batch.columns[1];
  return faults.length === 0 ? [column?.kind, column?.cells[0]] : faults[0]?.message;
}

describe('a json_db message', () => {
  it('may have as many columns as PostgreSQL, then without a tag for the name of its table (M6)', () => {
    const columns = (count: number) => [
      COLUMNS[0],
      ...Array.from({ length: count - 1 }, (_, n) => ({ name: `c${String(n)}`, type: 'INT8', length: 64 })),
    ];
    const widthOf = (count: number) =>
      decode([message('{"ts":1,"c0":2}', columns(count), [])]).rows[0]?.batch.columns.length;
    assert.deepEqual([widthOf(1598), widthOf(1599), widthOf(1600)], [1599, 1600, 1600]);
    assert.deepEqual(problems(message('{"ts":1}', columns(1601), [])), ['a table cannot have 1601 columns']);
  });

  it('becomes rows with the roles and kinds that it describes, and the shape of its table', () => {
    const { rows, faults } = decode([
      message('{"ts":1700000000123,"n":1,"v":0.5,"site":"oslo","rack":"r1"},{"ts":1700000000124,"site":"rome"}'),
    ]);
    assert.deepEqual(faults, []);
    assert.equal(rows.length, 1);
    const { batch, shape } = rows[0] ?? {};
    assert.deepEqual(batch?.table, { name: 't' });
    assert.deepEqual(columnsOf(batch), [
      'ts time time',
      'n int data',
      'v float data',
      'site text primary-tag',
      'rack text tag',
    ]);
    assert.deepEqual(rowsOf(batch), [
      { ts: 1_700_000_000_123_000, n: 1, v: 0.5, site: 'oslo', rack: 'r1' },
      { ts: 1_700_000_000_124_000, n: null, v: null, site: 'rome', rack: null },
    ]);
    assert.deepEqual(batch?.origins.at(1), RECORD);
    assert.deepEqual(shape, {
      exact: true,
      columns: [
        { name: 'ts', role: 'time', type: 'TIMESTAMPTZ', length: undefined, nullable: false },
        { name: 'n', role: 'data', type: 'INT8', length: undefined, nullable: true },
        { name: 'v', role: 'data', type: 'FLOAT8', length: undefined, nullable: true },
        { name: 'site', role: 'primary-tag', type: 'VARCHAR', length: 64, nullable: false },
        { name: 'rack', role: 'tag', type: 'VARCHAR', length: 32, nullable: true },
      ],
    });
  });

  it('may span several lines, have its keys in any order, and contain further keys', () => {
    const text = JSON.stringify(
      { data: [{ v: 2, ts: 5, site: 's' }], more: [1], tags: TAGS, columns: COLUMNS, table: 't' },
      null,
      2,
    );
    const { rows, faults } = decode([text, `${text}\n`, `  ${text}`]);
    assert.deepEqual(faults, []);
    assert.equal(rows.length, 1);
    assert.equal(rows[0]?.batch.rowCount, 3);
    assert.deepEqual(rowsOf(rows[0].batch)[2], { ts: 5_000, n: null, v: 2, site: 's', rack: null });
  });

  it('shares its batch and its shape object with messages of the same table, whatever their spelling', () => {
    const decoder = new JsonDbDecoder();
    decoder.add(message('{"ts":1,"site":"a"}'), RECORD);
    decoder.add(Buffer.from(message('{"site":"b","ts":2}')), RECORD);
    decoder.add(message('{"ts":3,"site":"c"}').replace('"data":', '"data" : '), RECORD);
    const first = decoder.take();
    assert.deepEqual(
      first.rows.map(({ batch }) => rowsOf(batch).map(({ site }) => site)),
      [['a', 'b', 'c']],
    );
    decoder.add(message('{"ts":4,"site":"d"}'), RECORD);
    const second = decoder.take();
    assert.equal(second.rows[0]?.shape, first.rows[0]?.shape);
    assert.deepEqual(
      rowsOf(second.rows[0]?.batch).map(({ site }) => site),
      ['d'],
    );
  });

  it('may have blanks after a colon in one row and none in another', () => {
    const { rows, faults } = decode([message('{"ts":1,"n":1},{"ts": 2,"n":\t2},{"ts":3,"n":3}')]);
    assert.deepEqual(faults, []);
    assert.deepEqual(rows[0]?.batch.columns[1]?.cells, [1, 2, 3]);
  });

  it('of a table whose description changes starts a new batch, in order', () => {
    const narrow = (row: string) => message(row, COLUMNS.slice(0, 2));
    const { rows } = decode([
      message('{"ts":1,"site":"a"}'),
      message('{"ts":1}', COLUMNS, [], 'other'),
      narrow('{"ts":2,"site":"a"}'),
      message('{"ts":3,"site":"a"}'),
      narrow('{"ts":4,"site":"a"}'),
      narrow('{"ts":5,"site":"a"}'),
    ]);
    assert.deepEqual(
      rows.map(({ batch }) => [batch.table.name, batch.columns.length, batch.columns[0]?.cells]),
      [
        ['t', 5, [1_000]],
        ['other', 4, [1_000]],
        ['t', 4, [2_000]],
        ['t', 5, [3_000]],
        ['t', 4, [4_000, 5_000]],
      ],
    );
  });

  it('without tags has its table name as primary tag by default', () => {
    for (const tags of [undefined, null, []]) {
      const text = JSON.stringify({ table: 't', columns: COLUMNS, tags, data: [{ ts: 1 }, { ts: 2, t: 'own' }] });
      const { rows } = decode([text]);
      assert.deepEqual(rowsOf(rows[0]?.batch), [
        { ts: 1_000, n: null, v: null, t: 't' },
        { ts: 2_000, n: null, v: null, t: 'own' },
      ]);
      assert.deepEqual(rows[0]?.shape?.columns.at(-1), {
        name: 't',
        role: 'primary-tag',
        type: 'VARCHAR',
        length: undefined,
        nullable: false,
      });
      const plain = decode([text.replace(',"t":"own"', '')], { tagsWhenAbsent: 'none' });
      assert.deepEqual(columnsOf(plain.rows[0]?.batch), ['ts time time', 'n int data', 'v float data']);
    }
  });

  it('accepts isPrimary for primary, and nullable for columns', () => {
    const columns = [COLUMNS[0], { name: 'n', type: 'int4', nullable: false }];
    const { rows } = decode([
      message('', columns, [{ name: 's', type: 'VARCHAR(8)', isPrimary: true }]),
      message('{"ts":1}', columns, [{ name: 's', type: 'VARCHAR', length: 8, isPrimary: true }]),
    ]);
    assert.deepEqual(rows[0]?.shape?.columns.slice(1), [
      { name: 'n', role: 'data', type: 'INT4', length: undefined, nullable: false },
      { name: 's', role: 'primary-tag', type: 'VARCHAR', length: 8, nullable: false },
    ]);
  });

  it('without rows is neither a fault nor a batch', () => {
    assert.deepEqual(decode([message('')]), { rows: [], faults: [] });
  });
});

describe('a value of a json_db row', () => {
  it('keeps all its digits', () => {
    assert.deepEqual(cell('INT8', '2535208944865431245'), ['int', 2535208944865431245n]);
    assert.deepEqual(cell('INT8', '9223372036854775807'), ['int', 9223372036854775807n]);
    assert.deepEqual(cell('INT8', '-9223372036854775808'), ['int', -9223372036854775808n]);
    assert.deepEqual(cell('INT8', '9007199254740991'), ['int', 9007199254740991]);
    assert.deepEqual(cell('DECIMAL', '12345678901234567890.123456789'), ['numeric', '12345678901234567890.123456789']);
    assert.deepEqual(cell('JSONB', '{"a": 12345678901234567890}'), ['json', '{"a": 12345678901234567890}']);
  });

  it('has the kind of its column', () => {
    assert.deepEqual(cell('INT2', '-32768'), ['int', -32768]);
    assert.deepEqual(cell('INT4', '5.0'), ['int', 5]);
    assert.deepEqual(cell('FLOAT8', '-0.1e-7'), ['float', -0.1e-7]);
    assert.deepEqual(cell('FLOAT4', '-0'), ['float', -0]);
    assert.deepEqual(cell('FLOAT8', '"NaN"'), ['float', Number.NaN]);
    assert.deepEqual(cell('FLOAT8', '"-Infinity"'), ['float', -Infinity]);
    assert.deepEqual(cell('NUMERIC(10,2)', '"1.50"'), ['numeric', '1.50']);
    assert.deepEqual(cell('BOOL', 'true'), ['bool', true]);
    assert.deepEqual(cell('VARCHAR', '"a\\u00f8\\n\\"b"'), ['text', 'aø\n"b']);
    assert.deepEqual(cell('VARBYTES', '"\\\\x00ff"'), ['bytes', Buffer.from([0, 255])]);
    assert.deepEqual(cell('BYTES', '"ø"'), ['bytes', Buffer.from('ø')]);
    assert.deepEqual(cell('JSON', '"text"'), ['json', '"text"']);
    assert.deepEqual(cell('JSON', '[ 1, {} ]'), ['json', '[ 1, {} ]']);
    assert.deepEqual(cell('DATE', '"2024-05-06"'), ['text', '2024-05-06']);
    assert.deepEqual(cell('UNHEARD OF', '12.50'), ['text', '12.50']);
    for (const type of ['INT8', 'VARCHAR', 'JSONB', 'BOOL', 'TIMESTAMP']) {
      assert.equal((cell(type, 'null') as unknown[])[1], null);
    }
  });

  it('is a time in the configured unit, or a string if allowed', () => {
    assert.deepEqual(cell('TIMESTAMP', '1700000000123', { precision: 'ms' }), ['time', 1_700_000_000_123_000]);
    assert.deepEqual(cell('TIMESTAMPTZ(6)', '1700000000123456789', { precision: 'ns' }), [
      'time',
      1_700_000_000_123_456,
    ]);
    assert.deepEqual(cell('TIMESTAMPTZ', '"2024-05-06 07:08:09.25+02"'), ['time', 1_714_972_089_250_000]);
    assert.deepEqual(cell('TIMESTAMPTZ', '"infinity"'), ['time', 'infinity']);
    assert.equal(
      cell('TIMESTAMPTZ', '"2024-05-06 07:08:09"', { timestampsAs: 'integer' }),
      'json_db: a timestamp must be an integer in ms here, not the string "2024-05-06 07:08:09"',
    );
    assert.equal(
      decode([typed('TIMESTAMP', '5')], { timestampsAs: 'string' }).faults[0]?.message,
      'json_db: a timestamp must be a string here, not the number "1"',
    );
  });

  it('that does not fit its column is a fault of its row, with table, column and reason', () => {
    const { rows, faults } = decode([
      message('{"ts":1,"site":"a"},{"ts":2,"n":"x","site":"b","v":[{"n":1}]},{"ts":3,"site":"c"}'),
    ]);
    assert.deepEqual(
      rowsOf(rows[0]?.batch).map(({ site }) => site),
      ['a', 'c'],
    );
    assert.deepEqual(faults, [
      {
        scope: 'record',
        message: 'json_db: row 2 of the message: a string is not a value of type INT8',
        origin: RECORD,
        table: 't',
        column: 'n',
      },
    ]);
  });

  it('is converted from text that contains a number or a boolean', () => {
    const texts: [string, string, unknown][] = [
      ['INT4', '"12"', ['int', 12]],
      ['INT8', '" -9223372036854775808 "', ['int', -9223372036854775808n]],
      ['INT2', '"+7"', ['int', 7]],
      ['FLOAT8', '"-1.5e3"', ['float', -1500]],
      ['FLOAT4', '"NaN"', ['float', Number.NaN]],
      ['BOOL', '"True"', ['bool', true]],
      ['BOOL', '"off"', ['bool', false]],
    ];
    for (const [type, text, expected] of texts) assert.deepEqual(cell(type, text), expected, `${type} ${text}`);
  });

  it('is refused for one of these reasons', () => {
    const reasons: [string, string, string][] = [
      ['INT8', '"5x"', 'a string is not a value of type INT8'],
      ['INT4', '"2147483648"', '"2147483648" is out of range'],
      ['BOOL', '"maybe"', 'a string is not a value of type BOOL'],
      ['INT8', 'true', 'a boolean is not a value of type INT8'],
      ['INT8', '{"a":1}', 'an object is not a value of type INT8'],
      ['INT8', '1.5', '"1.5" is not a whole number'],
      ['INT2', '32768', '"32768" is out of range'],
      ['INT4', '2147483648', '"2147483648" is out of range'],
      ['INT8', '9223372036854775808', '"9223372036854775808" is out of range'],
      ['FLOAT8', '1e999', '"1e999" is out of range'],
      ['FLOAT8', '"1.5x"', 'a string is not a value of type FLOAT8'],
      ['DECIMAL', '"x"', 'a string is not a value of type DECIMAL'],
      ['BOOL', '1', 'the number "1" is not a value of type BOOL'],
      ['VARCHAR', '5', 'the number "5" is not a value of type VARCHAR'],
      ['VARCHAR', '["a"]', 'an array is not a value of type VARCHAR'],
      ['VARBYTES', '"\\\\x0"', '"\\\\x0" is not hexadecimal'],
      ['TIMESTAMPTZ', '1.5', '"1.5" is not a timestamp, which must be an integer in ms'],
      ['TIMESTAMPTZ', '"soon"', '"soon" is not a timestamp (YYYY-MM-DD hh:mm:ss.ffffff+zz)'],
    ];
    assert.deepEqual(
      reasons.map(([type, value]) => [type, value, cell(type, value)]),
      reasons.map(([type, value, reason]) => [type, value, `json_db: ${reason}`]),
    );
  });
});

describe('an invalid json_db row', () => {
  it('has an unknown key, the same key twice, or is not an object', () => {
    const { rows, faults } = decode([
      message('{"ts":1,"oops":{"a":1},"site":"a"},{"ts":2,"ts":3},5,{"ts":6,"site":"b"}'),
    ]);
    assert.deepEqual(
      faults.map((fault) => [fault.message, fault.column]),
      [
        ['json_db: row 1 of the message: the key "oops" is neither a column nor a tag', 'oops'],
        ['json_db: row 2 of the message: the key occurs twice', 'ts'],
        ['json_db: row 3 of the message: a row must be an object, not number', undefined],
      ],
    );
    assert.deepEqual(rows[0]?.batch.columns[0]?.cells, [6_000]);
  });

  it('is a row with columns for its unknown keys if they are added', () => {
    const { rows, faults } = decode(
      [
        message('{"ts":1,"site":"a"},{"ts":2,"site":"a","f":1,"s":"x","none":null}'),
        message('{"ts":3,"site":"b","b":true,"j":{"k":[1]},"f":2.5}'),
        message('{"ts":4,"site":"b","f":"text"},{"ts":5,"site":"b","f":3,"f":4},{"ts":6,"site":"b","n":6}'),
        message('{"ts":7,"site":"b","lost":1'),
      ],
      { unknownKeys: 'add' },
    );
    assert.equal(rows.length, 1);
    assert.deepEqual(columnsOf(rows[0]?.batch).slice(5), [
      'f float data',
      's text data',
      'b bool data',
      'j json data',
      'lost float data',
    ]);
    assert.deepEqual(
      rowsOf(rows[0]?.batch).map(({ ts, f, s, b, j }) => [ts, f, s, b, j]),
      [
        [1000, null, null, null, null],
        [2000, 1, 'x', null, null],
        [3000, 2.5, null, true, '{"k":[1]}'],
        [6000, null, null, null, null],
      ],
    );
    const added = rows[0]?.shape?.columns
      .slice(5)
      .map(({ name, type, nullable }) => `${name} ${type} ${String(nullable)}`);
    assert.deepEqual(added, ['f FLOAT8 true', 's VARCHAR true', 'b BOOL true', 'j JSONB true']);
    assert.equal(faults.length, 3);
  });

  it('is a row without the unknown key if they are ignored', () => {
    const { rows, faults } = decode([message('{"oops":[1,"x"],"ts":1,"site":"a"}'), message('{"other":null,"ts":2}')], {
      unknownKeys: 'ignore',
    });
    assert.deepEqual(faults, []);
    assert.deepEqual(rows[0]?.batch.columns[0]?.cells, [1_000, 2_000]);
  });
});

describe('an invalid json_db message', () => {
  const line = message('{"ts":1,"site":"a"}');

  it('is one fault with its origin, and leaves no rows', () => {
    const { rows, faults } = decode([
      line,
      `${line.slice(0, -2)},{"ts":2,"site":"b"}`,
      line.replace('}]}', '},{"ts":tru}]}'),
      line,
    ]);
    assert.equal(rows[0]?.batch.rowCount, 2);
    assert.deepEqual(
      faults.map(({ message: text, origin }) => [text.slice(0, 60), origin]),
      [
        ['json_db: the JSON ends too early, after 362 characters: a me', RECORD],
        ['json_db: not JSON at character 350, "tru}]}"', RECORD],
      ],
    );
  });

  it('is refused with a hint if it is a fragment', () => {
    const hint =
      'a message must contain one complete JSON object; an object that is formatted over several lines must not be sent line by line';
    assert.deepEqual(problems('{', '  "table": "t",', ']'), [
      `the JSON ends too early, after 1 characters: ${hint}`,
      `expected a JSON object, found "\\"table\\": \\"t\\",": ${hint}`,
      `expected a JSON object, found "]": ${hint}`,
    ]);
  });

  it('is refused with the missing part of its description', () => {
    assert.deepEqual(
      problems(
        '',
        '{}',
        `${line}${line}`,
        message('', COLUMNS, TAGS, 5),
        message('', COLUMNS, TAGS, ''),
        message('', []),
        message('', {}),
        message('', [{ name: 'ts' }]),
        message('', [{ name: 'ts', type: 7 }]),
        message('', [{ name: 'ts', type: 'INT8', length: 1.5 }]),
        message('', COLUMNS, {}),
        message('', COLUMNS, [...TAGS, { name: 'n', type: 'VARCHAR' }]),
        message('', COLUMNS, [], 'n'),
        '{"table":"t","columns":[{"name":"a","type":"INT8"}]}',
        '{"table":"t","columns":[{"name":"a","type":"INT8"}],"data":{}}',
        '{"table":"t","table":"u"}',
        Buffer.from([0x7b, 0xff, 0x7d]),
      ),
      [
        'the message is empty',
        'the message has no "table"',
        'after the JSON object came "{\\"table\\":\\"t\\",\\"column": a message must contain one object',
        'table must be string',
        'table must NOT have fewer than 1 characters',
        'columns must NOT have fewer than 1 items',
        'columns must be array',
        'columns[0] has no "type"',
        'columns[0].type must be string',
        'columns[0].length must be integer,null',
        'tags must be array,null',
        'the column "n" of table t is listed twice',
        'the column "n" of table n is listed twice',
        'the message has no "data", an array of rows',
        '"data" must be an array of rows, not object',
        'the key "table" occurs twice',
        'the message is not UTF-8',
      ],
    );
  });

  it('is one whose rows omit nearly all columns, or are nearly all invalid', () => {
    const wide = Array.from({ length: 1_500 }, (_, index) => ({ name: `c${String(index)}`, type: 'INT8' }));
    assert.deepEqual(problems(message('{},'.repeat(20_000) + '{}', wide, [])), [
      'the rows of the message have values for only a few of its columns; describe fewer columns',
    ]);
    assert.deepEqual(problems(message('1,'.repeat(20_000) + '1')), ['more than 10000 rows of the message are invalid']);
    assert.deepEqual(problems(message('', [...wide, ...wide])), ['a table cannot have 3002 columns']);
  });
});

describe('a json_db decoder', () => {
  it('counts rows and is empty after take', () => {
    const decoder = new JsonDbDecoder();
    decoder.add(message('{"ts":1},{"ts":2},{"ts":"x"}'), RECORD);
    assert.equal(decoder.rowCount, 2);
    decoder.take();
    assert.equal(decoder.rowCount, 0);
    assert.deepEqual(decoder.take(), { rows: [], faults: [] });
  });

  it('reads many tables in turn, more than it remembers', () => {
    const decoder = new JsonDbDecoder();
    for (let round = 0; round < 3; round++) {
      for (let table = 0; table < 40; table++) {
        decoder.add(message(`{"ts":${String(round)},"site":"s"}`, COLUMNS, TAGS, `t${String(table)}`), RECORD);
      }
    }
    const { rows, faults } = decoder.take();
    assert.deepEqual(faults, []);
    assert.equal(rows.length, 40);
    assert.ok(rows.every(({ batch }) => batch.columns[0]?.cells.join() === '0,1000,2000'));
  });
});
