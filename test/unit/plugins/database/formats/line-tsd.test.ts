import assert from 'node:assert/strict';
import type { Origin } from '../../../../../src/data/fault.ts';
import { LineTsdDecoder } from '../../../../../plugins/database/formats/tsd/line-tsd.ts';
import type { PointPolicy } from '../../../../../plugins/database/formats/tsd/point-tables.ts';
import { columnsOf, rowsOf } from './rows-of.ts';

const RECORD: Origin = { kind: 'record', topic: 'lines', partition: 3, offset: 11 };
const LINE: Origin = { kind: 'line', line: 1 };
const WEB01_EU = 'e663a4f7b265ea6997a94bdd821ae74caa8d3a029531919b22bd496ce3be2f1f';

function decode(text: string | Uint8Array, policy: PointPolicy = {}, origin = RECORD) {
  const decoder = new LineTsdDecoder(policy);
  decoder.add(text, origin);
  return decoder.take();
}

function problem(line: string, policy: PointPolicy = {}): string | undefined {
  const { rows, faults } = decode(line, policy);
  assert.equal(rows.length + faults.length, 1, line);
  return faults[0]?.message.replace(/^wrong tsd telnet insert statement: /, '');
}

/** Kind and cell of the value written so. */
function value(text: string): unknown {
  const column = decode(`m 1700000000 ${text} a=b`).rows[0]?.batch.columns[1];
  return [column?.kind, column?.cells[0]];
}

describe('a line of line_tsd', () => {
  it('becomes a row of its metric: time, value, derived primary tag and tags', () => {
    const { rows, faults } = decode(
      'sys.load 1700000000 0.5 host=web01 region=eu\nsys.load 1700000000123 7 region=eu host=web01\nsys.mem 1700000001 1',
    );
    assert.deepEqual(faults, []);
    assert.deepEqual(
      rows.map(({ batch, metric }) => [batch.table, metric]),
      [
        [{ name: 'sys.load' }, 'sys.load'],
        [{ name: 'sys.mem' }, 'sys.mem'],
      ],
    );
    assert.deepEqual(columnsOf(rows[0]?.batch), [
      'timestamp time time',
      'value float data',
      'primary_tag text primary-tag',
      'host text tag',
      'region text tag',
    ]);
    assert.deepEqual(rowsOf(rows[0]?.batch), [
      { timestamp: 1_700_000_000_000_000, value: 0.5, primary_tag: WEB01_EU, host: 'web01', region: 'eu' },
      { timestamp: 1_700_000_000_123_000, value: 7, primary_tag: WEB01_EU, host: 'web01', region: 'eu' },
    ]);
    assert.deepEqual(rows[0]?.shape?.columns[1], {
      name: 'value',
      role: 'data',
      type: 'VARCHAR',
      length: 254,
      nullable: true,
    });
  });

  it('may begin with put, be separated by any blanks, and have any line end', () => {
    const expected = rowsOf(decode('m 1700000000 1 a=b c=d').rows[0]?.batch);
    for (const line of [
      'put m 1700000000 1 a=b c=d',
      '  m  1700000000\t1   a=b \t c=d  ',
      'put\tm 1700000000 1 a=b c=d\r\n',
      '\r\n\n  \n\tm 1700000000 1 a=b c=d\r\n\r\n',
    ]) {
      const { rows, faults } = decode(line);
      assert.deepEqual(faults, [], line);
      assert.deepEqual(rowsOf(rows[0]?.batch), expected, line);
    }
    assert.equal(decode('put put 1700000000 1').rows[0]?.metric, 'put');
    assert.equal(decode('putty 1700000000 1').rows[0]?.metric, 'putty');
  });

  it('has a whole number or a decimal, with all digits', () => {
    assert.deepEqual(['5', '-0.25', '1e3', '+7', '9223372036854775807', '123456789012345678901'].map(value), [
      ['int', 5],
      ['float', -0.25],
      ['int', 1000],
      ['int', 7],
      ['int', 9223372036854775807n],
      ['numeric', '123456789012345678901'],
    ]);
  });

  it('is refused with the reason without affecting its neighbours', () => {
    const time =
      'a time must be an integer of up to 10 digits (seconds), 13 (milliseconds), 16 (microseconds) or 19 (nanoseconds)';
    const missing = 'missing indicator items: expected <metric> <timestamp> <value> <tagk>=<tagv> …';
    const cases: [string, string][] = [
      ['m', missing],
      ['m 1700000000', missing],
      ['put m 1700000000', missing],
      ['put', missing],
      ['m 12345678901234567890 1 a=b', `the timestamp is "12345678901234567890": ${time}`],
      ['m now 1 a=b', `the timestamp is "now": ${time}`],
      ['m 1700000000 x a=b', 'value is not float type: "x"'],
      ['m 1700000000 NaN a=b', 'value is not float type: "NaN"'],
      ['m 1700000000 1e999 a=b', 'value is not float type: "1e999" is out of range'],
      ['m 1700000000 1 a', 'value is not just a column: "a" is not <tagk>=<tagv>'],
      ['m 1700000000 1 a=b c', 'value is not just a column: "c" is not <tagk>=<tagv>'],
      ['m 1700000000 1 =b', 'value is not just a column: "=b" is not <tagk>=<tagv>'],
      ['m 1700000000 1 a=', 'value is not just a column: "a=" is not <tagk>=<tagv>'],
      ['m 1700000000 1 a=1 b=2 a=3', 'duplicate tag column: "a"'],
      ['m 1700000000 1 value=2', 'the tag "value" has the name of the value column'],
      ['m 1700000000 1 timestamp=2', 'the tag "timestamp" has the name of the time column'],
    ];
    assert.deepEqual(
      cases.map(([line]) => problem(line)),
      cases.map(([, reason]) => reason),
    );
    assert.equal(
      problem('m 1.5 1', { precision: 's' }),
      'the timestamp is "1.5": a time must be an integer in seconds',
    );

    const good = 'm 1700000000 1 a=b=c';
    const { rows, faults } = decode(cases.flatMap(([line]) => [good, line, '']).join('\r\n'));
    assert.equal(rows[0]?.batch.rowCount, cases.length);
    assert.equal(rowsOf(rows[0].batch)[0]?.a, 'b=c');
    assert.equal(faults.length, cases.length);
    assert.equal(faults[1]?.message, `wrong tsd telnet insert statement (line 5 of the message): ${missing}`);
    assert.deepEqual(faults[1].origin, RECORD);
  });

  it('has its number where origins are lines', () => {
    const { rows, faults } = decode('\nm 1700000000 1\nx\n\nm 1700000000 2', {}, { kind: 'line', line: 10 });
    assert.deepEqual(
      [0, 1].map((row) => rows[0]?.batch.origins.at(row)),
      [
        { kind: 'line', line: 11 },
        { kind: 'line', line: 14 },
      ],
    );
    assert.deepEqual(
      faults.map(({ origin }) => origin),
      [{ kind: 'line', line: 12 }],
    );
  });

  it('that is not UTF-8 is refused alone', () => {
    const bytes = Buffer.concat([
      Buffer.from('m 1700000000 1 a=æ\nm 1700000000 2 a='),
      Buffer.from([0xff]),
      Buffer.from('\nm 1700000000 3 a=ø'),
    ]);
    const { rows, faults } = decode(bytes);
    assert.deepEqual(rows[0]?.batch.columns[1]?.cells, [1, 3]);
    assert.deepEqual(
      faults.map(({ message }) => message),
      ['wrong tsd telnet insert statement (line 2 of the message): the text is not UTF-8'],
    );
  });
});

describe('line_tsd messages', () => {
  it('without lines produce nothing', () => {
    assert.deepEqual(decode(''), { rows: [], faults: [] });
    assert.deepEqual(decode(' \r\n\n\t'), { rows: [], faults: [] });
  });

  it('can be taken in parts', () => {
    const text = Array.from({ length: 25 }, (_, n) => (n % 5 === 3 ? 'bad' : `m 1700000000 ${String(n)}`)).join('\n');
    const whole = decode(text, {}, LINE);
    const parts = [...new LineTsdDecoder().addInParts(text, LINE, 4)];
    assert.deepEqual(
      parts.flatMap(({ rows }) => rows.flatMap(({ batch }) => batch.columns[1]?.cells ?? [])),
      whole.rows[0]?.batch.columns[1]?.cells,
    );
    assert.deepEqual(
      parts.flatMap(({ faults }) => faults),
      whole.faults,
    );
    assert.ok(parts.every(({ rows }) => rows.every(({ batch }) => batch.rowCount <= 4)));
  });

  it('with very many invalid lines are abandoned', () => {
    const { rows, faults } = decode(`m 1700000000 1\n${'x\n'.repeat(10_050)}m 1700000000 1`);
    assert.equal(rows[0]?.batch.rowCount, 1);
    assert.equal(faults.length, 10_001);
    assert.match(faults.at(-1)?.message ?? '', /line 10002 of the message\): stopped after 10000 invalid lines/);
  });
});
