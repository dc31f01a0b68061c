import assert from 'node:assert/strict';
import type { Origin } from '../../../../../src/data/fault.ts';
import type { Precision } from '../../../../../plugins/database/formats/format.ts';
import { LineLpDecoder, type LineLpPolicy } from '../../../../../plugins/database/formats/line-lp/line-lp.ts';
import { columnsOf, rowsOf } from './rows-of.ts';

const RECORD: Origin = { kind: 'record', topic: 'lines', partition: 2, offset: 7 };
const NOW = 1_700_000_000_123_456;

function decoder(policy: Partial<LineLpPolicy> = {}): LineLpDecoder {
  return new LineLpDecoder({ precision: 'ns', now: () => NOW, ...policy });
}

function decode(text: string | Uint8Array, policy: Partial<LineLpPolicy> = {}, origin = RECORD) {
  const lines = decoder(policy);
  lines.add(text, origin);
  return lines.take();
}

function onlyBatch(text: string | Uint8Array, policy: Partial<LineLpPolicy> = {}) {
  const { rows, faults } = decode(text, policy);
  assert.deepEqual(faults, []);
  assert.equal(rows.length, 1);
  return rows[0]?.batch;
}

function problems(text: string | Uint8Array, policy: Partial<LineLpPolicy> = {}): string[] {
  return decode(text, policy).faults.map((fault) => fault.message);
}

describe('a line of line protocol', () => {
  it('with more tags or fields than a table has columns is not read to its end (S12)', () => {
    const many = Array.from({ length: 200_000 }, (_, index) => `a${String(index)}=1`).join(',');
    assert.deepEqual(problems(`t,${many} f=1`), ['line protocol: a line has at most 1600 tags']);
    assert.deepEqual(problems(`t ${many}\nt f=1`), [
      'line protocol, line 1 of the message: a line has at most 1600 fields',
    ]);
  });

  it('with a new column does not widen the lines before it (S12)', () => {
    const { rows, faults } = decode(Array.from({ length: 20_000 }, (_, index) => `t a${String(index)}=1`).join('\n'));
    const cells = rows.reduce((sum, { batch }) => sum + batch.rowCount * batch.columns.length, 0);
    assert.deepEqual(faults, []);
    assert.equal(
      rows.reduce((sum, { batch }) => sum + batch.rowCount, 0),
      20_000,
    );
    assert.ok(cells < 20_000 * 250, `${String(cells)} cells`);
  });

  it('is parsed in linear time, even if many digits end in a letter', () => {
    const decoder = new LineLpDecoder({ precision: 'ns', now: () => 0 });
    decoder.add(`m v=${'1'.repeat(400_000)}x`, { kind: 'line', line: 1 });
    assert.equal(decoder.take().faults.length, 1);
  });

  it('is parsed the same regardless of preceding series, in repeating or changing order', () => {
    const lines = Array.from({ length: 400 }, (_, at) => {
      const host = at < 200 ? at % 7 : (at * at) % 11;
      const tags = host === 3 ? String.raw`,host=a\ b,rack=1` : `,host=h${String(host)}`;
      const fields = at % 29 === 5 ? `w="x y",v=${String(at)}` : `v=${String(at)},n=${String(at)}i`;
      return `cpu${tags} ${fields} ${String(at)}000`;
    });
    const kept = decoder();
    for (let from = 0; from < lines.length; from += 50) {
      const some = lines.slice(from, from + 50);
      kept.add(some.join('\n'), RECORD);
      const { rows } = kept.take();
      const alone = some.map((line) => rowsOf(onlyBatch(line)));
      const [batch] = rows;
      assert.equal(rows.length, 1);
      const filled = rowsOf(batch?.batch).map((row) =>
        Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null)),
      );
      assert.deepEqual(filled, alone.flat());
    }
  });

  it('becomes a row with its time, tags and typed fields', () => {
    const batch = onlyBatch('weather,site=oslo,Zone=B temp=3.5,n=4i,ok=t,note="a=b, c" 1700000000000000000');
    assert.equal(batch?.table.name, 'weather');
    assert.deepEqual(columnsOf(batch), [
      'k_timestamp time time',
      'temp float data',
      'n int data',
      'ok bool data',
      'note text data',
      'site text tag',
      'Zone text tag',
    ]);
    assert.deepEqual(rowsOf(batch), [
      {
        k_timestamp: 1_700_000_000_000_000,
        temp: 3.5,
        n: 4,
        ok: true,
        note: 'a=b, c',
        site: 'oslo',
        Zone: 'B',
      },
    ]);
  });

  it('has the types of the documented suffixes, and the standard ones', () => {
    const fields = 'a=1i16,b=-2i32,c=3i64,d=4i,e=1.5f32,f=1e3f64,g=2,h=7u,i=True,j=FALSE';
    const rows = rowsOf(onlyBatch(`t ${fields} 1`));
    const { k_timestamp: time, ...cells } = rows[0] ?? {};
    assert.equal(time, 0);
    assert.deepEqual(cells, { a: 1, b: -2, c: 3, d: 4, e: 1.5, f: 1000, g: 2, h: 7, i: true, j: false });
  });

  it('keeps every digit of 64-bit integers', () => {
    const rows = rowsOf(onlyBatch('t a=9223372036854775807i,b=-9223372036854775808i,c=18446744073709551615u 1'));
    assert.deepEqual(rows[0], {
      k_timestamp: 0,
      a: 9223372036854775807n,
      b: -9223372036854775808n,
      c: 18446744073709551615n,
    });
  });

  it('keeps a whole number without suffix that a double would round as decimal text', () => {
    const batch = onlyBatch('t at=1700000000123456789 1');
    assert.deepEqual(columnsOf(batch), ['k_timestamp time time', 'at numeric data']);
    assert.equal(rowsOf(batch)[0]?.at, '1700000000123456789');
    assert.deepEqual(rowsOf(onlyBatch('t at=1700000000123456789f64 1'))[0]?.at, 1_700_000_000_123_456_800);
  });

  it('reads single quotes and L"…" with the documented escapes, plain double quotes with the standard ones', () => {
    const text = String.raw`t a='it\'s\ a\=b\,c\"\\',b=L"h\ i\"",c="x\ y\"z\\" 1`;
    const { a, b, c } = rowsOf(onlyBatch(text))[0] ?? {};
    assert.deepEqual([a, b, c], [String.raw`it's a=b,c"` + '\\', 'h i"', String.raw`x\ y"z` + '\\']);
    const documented = rowsOf(onlyBatch(text, { stringEscapes: 'documented' }))[0];
    assert.equal(documented?.c, 'x y"z\\');
  });

  it('resolves the escapes of blank, = and , in plain double quotes only by the documented rules (M2)', () => {
    const text = String.raw`t s="a\ b\=c\,d\"e\\f\'g\n" 1`;
    assert.equal(rowsOf(onlyBatch(text, { stringEscapes: 'documented' }))[0]?.s, String.raw`a b=c,d"e\f\'g\n`);
    assert.equal(rowsOf(onlyBatch(text))[0]?.s, String.raw`a\ b\=c\,d"e\f\'g\n`);
  });

  it('resolves escapes in names and tag values', () => {
    const batch = onlyBatch(String.raw`my\ table\,1,tag\ 1=a\=b fie\,ld=1 1`);
    assert.equal(batch?.table.name, 'my table,1');
    assert.deepEqual(rowsOf(batch), [{ k_timestamp: 0, 'fie,ld': 1, 'tag 1': 'a=b' }]);
  });

  it('without a timestamp has the time of the clock, floored to the precision', () => {
    const times = (['s', 'ms', 'us', 'ns'] as Precision[]).map(
      (precision) => rowsOf(onlyBatch('t f=1', { precision }))[0]?.k_timestamp,
    );
    assert.deepEqual(times, [1_700_000_000_000_000, 1_700_000_000_123_000, NOW, NOW]);
  });

  it('asks the clock once per message', () => {
    let asked = 0;
    const rows = rowsOf(onlyBatch('t f=1\nt f=2\nt f=3', { now: () => ++asked }));
    assert.deepEqual(
      rows.map((row) => row.k_timestamp),
      [1, 1, 1],
    );
  });

  it('with a timestamp of any precision has it in microseconds, floored', () => {
    const time = (digits: string, precision: Precision) =>
      rowsOf(onlyBatch(`t f=1 ${digits}`, { precision }))[0]?.k_timestamp;
    assert.equal(time('1700000000', 's'), 1_700_000_000_000_000);
    assert.equal(time('1700000000123', 'ms'), 1_700_000_000_123_000);
    assert.equal(time('1700000000123456', 'us'), 1_700_000_000_123_456);
    assert.equal(time('1700000000123456999', 'ns'), 1_700_000_000_123_456);
    assert.equal(time('-1', 'ns'), -1);
    assert.equal(time('-1000', 'ns'), -1);
    assert.equal(time('-1001', 'ns'), -2);
    assert.equal(time('9223372036854775807', 'ns'), 9_223_372_036_854_775n);
    assert.equal(time('-9223372036854775808', 'ns'), -9_223_372_036_854_776n);
  });

  it('may end in a carriage return, be among blank lines and comments, and be the only line of its table', () => {
    const { rows, faults } = decode('# head\r\n\r\n  a f=1 1\r\n\n# mid\nb f=2 2\n   \n');
    assert.deepEqual(faults, []);
    assert.deepEqual(
      rows.map(({ batch }) => [batch.table.name, batch.rowCount]),
      [
        ['a', 1],
        ['b', 1],
      ],
    );
  });
});

describe('an invalid line of line protocol', () => {
  it('is one fault with line and reason, and its neighbours are rows', () => {
    const { rows, faults } = decode('t f=1 1\nt f=1.0i 2\nt f=3 3\nbroken\nt f=5 5', {}, { kind: 'line', line: 10 });
    assert.deepEqual(
      rowsOf(rows[0]?.batch).map((row) => row.f),
      [1, 3, 5],
    );
    assert.deepEqual(
      [0, 1, 2].map((row) => rows[0]?.batch.origins.at(row)),
      [10, 12, 14].map((line) => ({ kind: 'line', line })),
    );
    assert.deepEqual(faults, [
      {
        scope: 'record',
        message: 'line protocol: field "f": "1.0i" is not an integer',
        origin: { kind: 'line', line: 11 },
        table: 't',
      },
      {
        scope: 'record',
        message: "line protocol: expected a comma and a tag, or a space and a field, found the line's end",
        origin: { kind: 'line', line: 13 },
        table: 'broken',
      },
    ]);
  });

  it('of a record keeps the record as origin, and the line if there are several', () => {
    const { faults } = decode('t f=1 1\nt f= 2');
    assert.deepEqual(faults[0]?.origin, RECORD);
    assert.equal(faults[0]?.message, 'line protocol, line 2 of the message: field "f": expected a value, found " "');
    assert.deepEqual(problems('t f= 2'), ['line protocol: field "f": expected a value, found " "']);
  });

  it('leaves no trace in the columns', () => {
    const { rows } = decode('t,a=x f=1,g=2i 1\nt,a=x f=2,g=x 2\nt,a=x f=3,g=4i 3\nt,a=x f=3,g=4i 3x\nt,a=x f=5,g=6i 5');
    assert.deepEqual(rowsOf(rows[0]?.batch), [
      { k_timestamp: 0, f: 1, g: 2, a: 'x' },
      { k_timestamp: 0, f: 3, g: 4, a: 'x' },
      { k_timestamp: 0, f: 5, g: 6, a: 'x' },
    ]);
  });

  it('with an open string does not affect the lines after it', () => {
    const { rows, faults } = decode('t s="x 1\nt f=2 2\nt f=3 3', {}, { kind: 'line', line: 1 });
    assert.equal(rows[0]?.batch.rowCount, 2);
    assert.equal(faults.length, 1);
    assert.deepEqual(faults[0]?.origin, { kind: 'line', line: 1 });
  });

  it('whose string spans several lines says so, and lines are counted correctly', () => {
    const { rows, faults } = decode('t s="a\nb" 1\nt s="c\nd"x\nt s="e" 3', {}, { kind: 'line', line: 1 });
    assert.deepEqual(
      rowsOf(rows[0]?.batch).map((row) => row.s),
      ['a\nb', 'e'],
    );
    assert.deepEqual(rows[0]?.batch.origins.at(1), { kind: 'line', line: 5 });
    assert.equal(
      faults[0]?.message,
      'line protocol: expected a comma, a space or the line\'s end, found "x" (including its string, the line spans 2 lines)',
    );
  });

  it('has one of these reasons', () => {
    assert.deepEqual(problems('t,a=1,a=2 f=1'), ['line protocol: multiple assignments to the same column "a"']);
    assert.deepEqual(problems('t f=1,f=2'), ['line protocol: multiple assignments to the same column "f"']);
    assert.deepEqual(problems('t,a=1 a=2'), ['line protocol: multiple assignments to the same column "a"']);
    assert.deepEqual(problems('t k_timestamp=2'), [
      'line protocol: "k_timestamp" is the time column\'s name and cannot be a tag or a field',
    ]);
    assert.deepEqual(problems('t f=70000i16'), ['line protocol: field "f": "70000i16" is out of range for INT2']);
    assert.deepEqual(problems('t f=3000000000i32'), [
      'line protocol: field "f": "3000000000i32" is out of range for INT4',
    ]);
    assert.deepEqual(problems('t f=9223372036854775808i'), [
      'line protocol: field "f": "9223372036854775808i" is out of range for INT8',
    ]);
    assert.deepEqual(problems('t f=1e39f32'), ['line protocol: field "f": "1e39f32" is out of range for FLOAT4']);
    assert.deepEqual(problems('t f=1e309'), ['line protocol: field "f": "1e309" is out of range for FLOAT8']);
    assert.deepEqual(problems('t f=NaN'), ['line protocol: field "f": "NaN" is not a number']);
    assert.deepEqual(problems('t f=1 9223372036854775808'), [
      'line protocol: the timestamp 9223372036854775808 is out of range for ns',
    ]);
    assert.deepEqual(problems('t f=1 9223372036854775', { precision: 's' }), [
      'line protocol: the timestamp 9223372036854775 is out of range for s',
    ]);
    assert.deepEqual(problems('t f=\\"x\\" 1'), [
      'line protocol: field "f": "\\\\\\"x\\\\\\"" is not a number: a string starts with a quote without a backslash',
    ]);
  });

  it('that is not UTF-8 does not affect others', () => {
    const text = Buffer.concat([
      Buffer.from('t s="ø" 1\nt s="'),
      Buffer.from([0xff]),
      Buffer.from('" 2\nt s="\ufffd" 3'),
    ]);
    const { rows, faults } = decode(text);
    assert.deepEqual(
      rowsOf(rows[0]?.batch).map((row) => row.s),
      ['ø', '\ufffd'],
    );
    assert.deepEqual(
      faults.map((fault) => fault.message),
      ['line protocol, line 2 of the message: field "s": the text is not UTF-8'],
    );
  });

  it('stops being listed after ten thousand in one message', () => {
    const { faults } = decode('x\n'.repeat(50_000));
    assert.equal(faults.length, 10_001);
    assert.match(
      faults.at(-1)?.message ?? '',
      /stopped after 10000 invalid lines; this line and all following lines were not read$/,
    );
  });

  it('costs the same at any position', function () {
    this.timeout(60_000);
    const { faults } = decode(`${'x\n'.repeat(9_999)}${'y'.repeat(4_000_000)}`);
    assert.equal(faults.length, 10_000);
  });
});

describe('rows of one table', () => {
  it('share one batch; missing fields are null', () => {
    const batch = onlyBatch('t,a=x f=1 1000\nt,b=y g=2 2000\nt f=3 3000');
    assert.deepEqual(rowsOf(batch), [
      { k_timestamp: 1, f: 1, a: 'x', g: null, b: null },
      { k_timestamp: 2, f: null, a: null, g: 2, b: 'y' },
      { k_timestamp: 3, f: 3, a: null, g: null, b: null },
    ]);
  });

  it('mix whole numbers and fractions in one column if a double is exact', () => {
    const batch = onlyBatch('t f=1i 1\nt f=1.5 2\nt f=3i 3');
    assert.deepEqual(columnsOf(batch), ['k_timestamp time time', 'f float data']);
    assert.deepEqual(batch?.columns[1]?.cells, [1, 1.5, 3]);
  });

  it('keep all digits as decimal text if a double is not exact', () => {
    const batch = onlyBatch('t f=9007199254740993i 1\nt f=0.1 2\nt f=-0 3\nt f=5i 4');
    assert.deepEqual(columnsOf(batch), ['k_timestamp time time', 'f numeric data']);
    assert.deepEqual(batch?.columns[1]?.cells, ['9007199254740993', '0.1', '-0', '5']);
  });

  it('go to a second batch of the table if kinds cannot be mixed, in order and permanently', () => {
    const { rows, faults } = decode('t f=1 1\nt f="x" 2\nt f=3 3\nt f=4 4\nt,f=tag g=5 5');
    assert.deepEqual(faults, []);
    assert.deepEqual(
      rows.map(({ batch }) => [batch.table.name, batch.columns[1]?.name, batch.columns[1]?.cells]),
      [
        ['t', 'f', [1]],
        ['t', 'f', ['x']],
        ['t', 'f', [3, 4]],
        ['t', 'g', [5]],
      ],
    );
  });

  it('come in the order in which their tables were first seen', () => {
    const { rows } = decode('b f=1 1\na f=1 1\nb f=2 2');
    assert.deepEqual(
      rows.map(({ batch }) => [batch.table.name, batch.rowCount]),
      [
        ['b', 2],
        ['a', 1],
      ],
    );
  });

  it('keep their origin across messages', () => {
    const lines = decoder();
    lines.add('t f=1 1\nt f=2 2', RECORD);
    lines.add('t f=3 3', { kind: 'line', line: 40 });
    assert.equal(lines.rowCount, 3);
    const { origins } = lines.take().rows[0]?.batch ?? {};
    assert.deepEqual([origins?.at(0), origins?.at(1), origins?.at(2)], [RECORD, RECORD, { kind: 'line', line: 40 }]);
    assert.equal(lines.rowCount, 0);
    assert.deepEqual(lines.take(), { rows: [], faults: [] });
  });

  it('get a primary tag derived from their tags if the table has one', () => {
    const batch = onlyBatch(
      't,region=eu,host=web01 f=1 1\nt,host=web01,region=eu f=2 2\nt,primary_tag=own f=3 3\nt f=4 4',
      {
        derivesPrimaryTag: (table) => table === 't',
      },
    );
    const column = batch?.columns.find(({ name }) => name === 'primary_tag');
    assert.equal(column?.role, 'primary-tag');
    assert.deepEqual(column.cells, [
      '09f578515a766b39a347b3980b28dbde71b6c2e22e115fdbae30bdb6808d0869',
      '09f578515a766b39a347b3980b28dbde71b6c2e22e115fdbae30bdb6808d0869',
      'own',
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    ]);
    assert.deepEqual(problems('t primary_tag=1', { derivesPrimaryTag: () => true }), [
      'line protocol: a field cannot have the name "primary_tag" in this table',
    ]);
  });

  it('get a primary tag from the batch in which the table starts to require one', () => {
    let asks = false;
    const lines = decoder({ derivesPrimaryTag: () => asks });
    for (const round of [1, 2]) {
      lines.add('t,a=1 f=1 1\nt,a=2 f=1 1\nt,a=1 f=1 1\nt,a=2 f=1 1', RECORD);
      const names = columnsOf(lines.take().rows[0]?.batch);
      assert.equal(names.includes('primary_tag text primary-tag'), round === 2);
      asks = true;
    }
    lines.add('t,a=1 f=1 1\nt,a=2 f=1 1', RECORD);
    assert.ok(!lines.take().rows[0]?.batch.columns.some(({ cells }) => cells.includes(null)));
  });

  it('describe the required table on request', () => {
    const long = 'ø'.repeat(200);
    const { rows } = decode(`t,a=x f=1i16,g=1,h="${long}",i=L"x",j=t,k=1700000000123456789 1\nt,a=x f=1i32,g=1i 2`, {
      describesTables: true,
      derivesPrimaryTag: () => true,
    });
    assert.equal(rows[0]?.shape?.exact, false);
    assert.deepEqual(
      rows[0].shape.columns.map(({ name, role, type, length, nullable }) => [name, role, type, length, nullable]),
      [
        ['k_timestamp', 'time', 'TIMESTAMPTZ', undefined, false],
        ['f', 'data', 'INT4', undefined, true],
        ['g', 'data', 'FLOAT8', undefined, true],
        ['h', 'data', 'VARCHAR', 400, true],
        ['i', 'data', 'NVARCHAR', 254, true],
        ['j', 'data', 'BOOL', undefined, true],
        ['k', 'data', 'FLOAT8', undefined, true],
        ['primary_tag', 'primary-tag', 'VARCHAR', 64, false],
        ['a', 'tag', 'VARCHAR', 254, true],
      ],
    );
  });
});

describe('a large message', () => {
  it('can be taken in parts, faults where they occur', () => {
    const lines = decoder();
    const text = Array.from({ length: 25 }, (_, index) => (index === 12 ? 'bad' : `t f=${String(index)} 1`)).join('\n');
    const parts = [...lines.addInParts(text, { kind: 'line', line: 1 }, 10)];
    assert.deepEqual(
      parts.map(({ rows, faults }) => [rows[0]?.batch.rowCount, faults.length, rows[0]?.batch.origins.at(0)]),
      [
        [10, 0, { kind: 'line', line: 1 }],
        [10, 1, { kind: 'line', line: 11 }],
        [4, 0, { kind: 'line', line: 22 }],
      ],
    );
  });

  it('whose last string continues beyond the text is left for the next text, with the lines after it', () => {
    const lines = new LineLpDecoder({ precision: 'ns', now: () => 0 });
    const origin = { kind: 'line', line: 1 } as const;
    const read = (text: string, more: boolean) =>
      [...lines.addInParts(text, origin, 10, more)].flatMap(({ rows, faults }) => [
        ...rows.flatMap(({ batch }) => batch.columns[1]?.cells ?? []),
        ...faults.map(({ message }) => message),
      ]);
    assert.deepEqual(read('t s="a" 1\nt s="b" 2\nt s="c\nt s=9 3\n', true), ['a', 'b']);
    assert.equal(lines.unreadLine, 2);
    assert.deepEqual(read('t s="c\nt s=9 3\n" 4\nt s="d" 4\n', true), ['c\nt s=9 3\n', 'd']);
    assert.equal(lines.unreadLine, undefined);
    const [row, ...faults] = read('t s="x" 3\nt s="c\n', false);
    assert.equal(row, 'x');
    assert.match(faults.join(), /a string has no closing "/);
  });

  it('with ever more columns starts a new batch before it exceeds the limit of a table', () => {
    const line = (first: number): string =>
      `t ${Array.from({ length: 1_000 }, (_, index) => `f${String(first + index)}=1`).join(',')} 1`;
    const { rows } = decode([line(0), line(500), line(1_000)].join('\n'));
    assert.deepEqual(
      rows.map(({ batch }) => [batch.rowCount, batch.columns.length]),
      [
        [2, 1_501],
        [1, 1_001],
      ],
    );
  });
});
