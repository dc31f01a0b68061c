import assert from 'node:assert/strict';
import type { Page } from '../../../plugins/database-http/statements/page.ts';
import fc from 'fast-check';
import { cellWriter } from '../../../plugins/database-http/statements/cell-json.ts';
import { ResultJson } from '../../../plugins/database-http/statements/result-json.ts';
import { badTimeZone, readTimeZone } from '../../../plugins/database-http/time-zone.ts';

const column = (typeOid: number) => ({ name: 'c', typeOid, typeModifier: -1 });
const rules = { int64AsString: false, maxBytes: 1e9 };

const page = { isAsked: false, continuation: () => undefined } as unknown as Page;

describe('a cell of a query', () => {
  it('that is a timestamp is RFC 3339 in its zone', () => {
    const write = cellWriter(column(1184), rules);
    const cases: [string, string][] = [
      ['2024-05-06 07:08:09.25+08', '2024-05-06T07:08:09.25+08:00'],
      ['2024-05-06 07:08:09+00', '2024-05-06T07:08:09Z'],
      ['2024-05-06 07:08:09.123456-03:30', '2024-05-06T07:08:09.123456-03:30'],
      ['1890-01-01 00:00:00.5+08:05:43', '1889-12-31T15:54:17.5Z'],
      ['1890-01-01 00:00:00-00:25:21', '1890-01-01T00:25:21Z'],
      ['0099-01-01 00:00:00', '0099-01-01T00:00:00Z'],
      ['12024-05-06 07:08:09+00', '12024-05-06T07:08:09Z'],
      ['infinity', 'infinity'],
      ['0044-03-15 00:00:00+00 BC', '0044-03-15 00:00:00+00 BC'],
    ];
    for (const [text, expected] of cases) assert.equal(write(text), `"${expected}"`, text);
  });

  it('that is a number is the digits of the database, or text where JSON has none', () => {
    assert.equal(cellWriter(column(20), rules)('9223372036854775807'), '9223372036854775807');
    assert.equal(cellWriter(column(20), { int64AsString: true })('-1'), '"-1"');
    for (const text of ['NaN', 'Infinity', '-Infinity'])
      assert.equal(cellWriter(column(701), rules)(text), `"${text}"`);
    assert.equal(cellWriter(column(1700), rules)('-0.00000000000000000001'), '-0.00000000000000000001');
  });

  it('that is any text survives JSON unchanged', () => {
    const write = cellWriter(column(25), rules);
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(JSON.parse(write(text)), text)));
  });
});

describe('the answer of a query', () => {
  it('is valid JSON within its limit, with whole rows, for any contents', () => {
    // The first row always fits, as it would be refused otherwise.
    const text = fc.string({ unit: 'binary', maxLength: 10 });
    const rows = fc.array(fc.array(fc.option(text), { minLength: 2, maxLength: 2 }), { maxLength: 40 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 350, max: 900 }), (given, maxBytes) => {
        const json = new ResultJson([column(25), column(25)], { ...rules, maxBytes, page });
        const body = Buffer.concat([
          Buffer.from(json.head(12.5)),
          json.rows(given.slice(0, 20)),
          ...(json.truncated ? [] : [json.rows(given.slice(20))]),
          Buffer.from(json.tail()),
        ]);
        assert.ok(body.length <= maxBytes);
        const parsed = JSON.parse(body.toString()) as { data: unknown[]; rows: number; truncated?: boolean };
        assert.equal(parsed.rows, parsed.data.length);
        assert.deepEqual(parsed.data, given.slice(0, parsed.rows));
        assert.equal(parsed.truncated ?? false, parsed.rows < given.length);
      }),
    );
  });
});

describe('tz', () => {
  it('is accepted bare and in quotes: a name, hours east, or an offset as in ISO 8601, which is east (M6)', () => {
    const cases: [string, string][] = [
      ['8', '8'],
      [' 8', '+8'],
      ['"8"', '8'],
      ['" 8"', '+8'],
      ['-3.5', '-3.5'],
      ['-12', '-12'],
      ['14', '14'],
      ["'Asia/Shanghai'", 'Asia/Shanghai'],
      ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
      ['America/Port-au-Prince', 'America/Port-au-Prince'],
      ['EST5EDT', 'EST5EDT'],
      ['pst8pdt', 'pst8pdt'],
      ['Etc/GMT-8', 'Etc/GMT-8'],
      ['GMT', 'GMT'],
      ['+08:00', '<+08:00>-08:00'],
      [' 08:00', '<+08:00>-08:00'],
      ['+0800', '<+08:00>-08:00'],
      ['-0330', '<-03:30>+03:30'],
      ['-03:30', '<-03:30>+03:30'],
      ['+14:00', '<+14:00>-14:00'],
      ['UTC+5', '<+05:00>-05:00'],
      ['UTC 5', '<+05:00>-05:00'],
      ["'utc+05:45'", '<+05:45>-05:45'],
      ['GMT-3', '<-03:00>+03:00'],
      ['GMT-3:00', '<-03:00>+03:00'],
      ['" 08:00"', '<+08:00>-08:00'],
      ['Z', 'UTC'],
    ];
    for (const [given, zone] of cases) assert.equal(readTimeZone(given), zone, given);
  });

  it('is refused when it cannot be one, POSIX forms included (M6)', () => {
    const none = [
      '99',
      '15',
      '-13',
      '14.25',
      '+14:01',
      '+15:00',
      '-12:30',
      '+08:60',
      '+8:0',
      '+800',
      '+08:',
      '+08:000',
      '+:30',
      '+008:00',
      '0800',
      '1e1',
      '.5',
    ];
    const posix = [
      'EST5',
      'UTC8',
      'FOO+3',
      'EST5:30EDT',
      '<+08>-8',
      'CST6CDT,M3.2.0,M11.1.0',
      'Asia/Shanghai+8',
      ':UTC',
    ];
    const hostile = ['', "'", "x'; drop table t", 'a b', 'x'.repeat(64), '\u0000', `+${'0'.repeat(40_000)}`];
    for (const given of [...none, ...posix, ...hostile])
      assert.equal(readTimeZone(given), undefined, given.slice(0, 80));
    assert.equal(badTimeZone('"Mars"'), 'pq: invalid value for parameter "timezone": "Mars"');
  });
});
