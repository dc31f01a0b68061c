import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell, ColumnRole } from '../../../../../src/data/row-batch.ts';
import { DataError } from '../../../../../src/errors.ts';
import type { Decoder, EncodedTable } from '../../../../../plugins/database/formats/format.ts';
import { createJsonTsdEncoder } from '../../../../../plugins/database/formats/tsd/json-tsd-encoder.ts';
import { JsonTsdDecoder } from '../../../../../plugins/database/formats/tsd/json-tsd.ts';
import { createLineTsdEncoder } from '../../../../../plugins/database/formats/tsd/line-tsd-encoder.ts';
import { LineTsdDecoder } from '../../../../../plugins/database/formats/tsd/line-tsd.ts';
import { resolveMetric, retarget } from '../../../../../plugins/database/formats/tsd/metric-target.ts';
import { TimestampWriter } from '../../../../../plugins/database/sql/timestamp-text.ts';

type Column = [name: string, type: string, role?: ColumnRole];

function table(name: string, ...columns: Column[]): EncodedTable {
  return {
    name: { name },
    columns: columns.map(([column, type, role]) => ({ name: column, type, role: role ?? 'data', nullable: true })),
  };
}

const METERS: Column[] = [
  ['at', 'timestamp(3) with time zone', 'time'],
  ['small', 'smallint'],
  ['large', 'bigint'],
  ['double', 'double precision'],
  ['exact', 'numeric(40,10)'],
  ['flag', 'boolean'],
  ['note', 'text'],
  ['extra', 'timestamp with time zone'],
  ['site', 'character varying(64)', 'primary-tag'],
  ['rack', 'character varying(64)', 'tag'],
];
const TIME = '2023-11-14 22:13:20.1239+00';
const NONE = METERS.map(() => null);

/** A row of METERS at TIME with these cells. */
function row(cells: Record<string, string | null>): (string | null)[] {
  return METERS.map(([name]) => (name === 'at' && !('at' in cells) ? TIME : (cells[name] ?? null)));
}

describe('a json_tsd record', () => {
  const encoder = createJsonTsdEncoder(table('me"ter', ...METERS));

  it('omits a column whose name it cannot represent if allowed, and keeps the others (M7)', () => {
    const columns = table('m', ['at', 'timestamptz', 'time'], ['a b', 'integer'], ['c', 'integer']);
    assert.throws(() => createLineTsdEncoder(columns), /line_tsd cannot represent the name or tag value "?m.a b/);
    const left: string[] = [];
    const encoder = createLineTsdEncoder(columns, { onUnsupportedColumn: ({ message }) => left.push(message) });
    assert.equal(encoder.encode([TIME, '1', '2']), 'm.c 1700000000123 2');
    assert.equal(left.length, 1);
    const tagged = table('m', ['at', 'timestamptz', 'time'], ['c', 'integer'], ['a b', 'text', 'tag']);
    const blank = table('m n', ['at', 'timestamptz', 'time'], ['c', 'integer']);
    for (const each of [tagged, blank])
      assert.throws(() => createLineTsdEncoder(each, { onUnsupportedColumn: () => undefined }), DataError);
  });

  it('has one point per value of the row, each with the time and all tags', () => {
    assert.equal(
      encoder.encode(row({ small: '1', note: 'say "\n"', site: 'os lo', rack: '' })),
      '[{"metric":"me\\"ter.small","timestamp":1700000000123,"value":1,"tags":{"site":"os lo","rack":""}},' +
        '{"metric":"me\\"ter.note","timestamp":1700000000123,"value":"say \\"\\n\\"","tags":{"site":"os lo","rack":""}}]',
    );
  });

  it('has values with all their digits, and as JSON allows', () => {
    const values: [string, string, string][] = [
      ['large', '-9223372036854775808', '-9223372036854775808'],
      ['exact', '12345678901234567890.1000000000', '12345678901234567890.1000000000'],
      ['double', '1e-07', '1e-07'],
      ['double', 'NaN', '"NaN"'],
      ['double', '-Infinity', '"-Infinity"'],
      ['flag', 't', 'true'],
      ['flag', 'f', 'false'],
      ['extra', '2024-05-06 07:08:09+02', '"2024-05-06 07:08:09+02"'],
    ];
    assert.deepEqual(
      values.map(
        ([column, cell]) => /"value":(.*),"tags":\{\}\}\]$/.exec(encoder.encode(row({ [column]: cell })) ?? '')?.[1],
      ),
      values.map(([, , json]) => json),
    );
  });

  it('does not exist for a row without value or time', () => {
    assert.equal(encoder.encode(row({ site: 'oslo' })), null);
    assert.equal(encoder.encode(row({ at: null, small: '1' })), null);
    assert.throws(() => encoder.encode(row({ at: 'infinity', small: '1' })), DataError);
    assert.throws(
      () => createJsonTsdEncoder(table('t', ['a', 'bigint'])),
      /requires a time column, which table "t" does not have/,
    );
  });

  it('has the requested unit, and uses the first timestamp if no time column is marked', () => {
    const unmarked = table(
      't',
      ['n', 'integer'],
      ['made', 'timestamp without time zone'],
      ['seen', 'timestamp without time zone'],
    );
    assert.equal(
      createJsonTsdEncoder(unmarked, { precision: 's' }).encode(['1', '2023-11-14 22:13:20.9', null]),
      '[{"metric":"t.n","timestamp":1700000000,"value":1,"tags":{}}]',
    );
  });
});

describe('a line_tsd record', () => {
  const encoder = createLineTsdEncoder(table('meter', ...METERS));

  it('has one line per number of the row, each with the time and all tags', () => {
    assert.equal(
      encoder.encode(row({ small: '1', double: '1e-07', flag: 't', note: 'x', site: 'oslo', rack: 'a=b' })),
      'meter.small 1700000000123 1 site=oslo rack=a=b\nmeter.double 1700000000123 1e-07 site=oslo rack=a=b',
    );
  });

  it('omits values that the format cannot represent, and does not exist without values', () => {
    assert.equal(
      encoder.encode(row({ small: '1', double: 'NaN', exact: 'Infinity', rack: '' })),
      'meter.small 1700000000123 1',
    );
    assert.equal(encoder.encode(row({ double: 'NaN', note: 'x', flag: 't' })), null);
    assert.equal(encoder.encode(row({ at: null, small: '1' })), null);
    assert.equal(encoder.encode(NONE), null);
  });

  it('is an error if a value cannot be represented', () => {
    for (const site of ['os lo', 'a\tb', 'a\nb', '\u0000']) {
      assert.throws(() => encoder.encode(row({ small: '1', site })), DataError, site);
    }
    assert.throws(() => encoder.encode(row({ at: '-infinity', small: '1' })), DataError);
    assert.throws(() => createLineTsdEncoder(table('a b', ['at', 'timestamp', 'time'], ['n', 'integer'])), DataError);
    assert.throws(
      () => createLineTsdEncoder(table('a', ['at', 'timestamp', 'time'], ['t=', 'text', 'tag'])),
      DataError,
    );
  });
});

describe('points that the source wrote', () => {
  const writer = new TimestampWriter('+00');
  const nullable = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.option(arbitrary).map((cell) => (cell === null ? null : String(cell)));
  const word = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\u0000-\u0020\u007f]/u.test(text));
  const cells = (text: fc.Arbitrary<string>) =>
    fc.record({
      small: nullable(fc.integer({ min: -32_768, max: 32_767 })),
      large: nullable(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      double: nullable(fc.double().map((value) => (Object.is(value, -0) ? '-0' : value))),
      exact: nullable(
        fc.tuple(fc.bigInt(), fc.nat({ max: 998 })).map(([whole, part]) => `${String(whole)}.${String(part)}1`),
      ),
      flag: nullable(fc.constantFrom('t', 'f')),
      note: nullable(fc.string({ unit: 'grapheme' })),
      site: text,
      rack: nullable(text),
    });
  const millis = fc.integer({ min: -8_000_000_000_000, max: 8_000_000_000_000 });

  /** Decodes a record and arranges its cells as a row of METERS. */
  async function readBack(decoder: Decoder, record: string, tableName: string): Promise<Map<string, Cell>> {
    decoder.add(record, { kind: 'line', line: 1 });
    const { rows, faults } = decoder.take();
    assert.deepEqual(faults, []);
    const found = new Map<string, Cell>();
    for (const decoded of rows) {
      const target = await resolveMetric(decoded.metric ?? '', async (name) => {
        const columns = METERS.map(([column, , role]) => ({ name: column, role: role ?? 'data' }));
        return Promise.resolve(name === tableName ? { columns } : undefined);
      });
      const { rows: targeted, faults: refused } = retarget(decoded, target);
      assert.deepEqual(refused, []);
      assert.equal(targeted.batch.table.name, tableName);
      assert.equal(targeted.batch.rowCount, 1);
      for (const { name, cells: all } of targeted.batch.columns) {
        const cell = all[0] ?? null;
        if (found.has(name)) assert.equal(found.get(name), cell);
        found.set(name, cell);
      }
    }
    return found;
  }

  function asText(cell: Cell | undefined): string | null {
    if (cell === null || cell === undefined || cell instanceof Uint8Array) return null;
    if (typeof cell === 'boolean') return cell ? 't' : 'f';
    return Object.is(cell, -0) ? '-0' : String(cell);
  }

  /** Decimals are compared by value: zeros at their end say nothing. */
  function sameNumber(left: string | null, right: string | null): boolean {
    if (left === right) return true;
    return (
      left !== null &&
      right !== null &&
      Number(left) === Number(right) &&
      left.replace(/0+$/, '') === right.replace(/0+$/, '')
    );
  }

  it('are read back by the sink as the same row (json_tsd)', async () => {
    const decoder = new JsonTsdDecoder({ precision: 'ms' });
    const property = fc.asyncProperty(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 15 }).filter((name) => Buffer.byteLength(name) <= 63),
      millis,
      cells(fc.string({ unit: 'grapheme' })),
      async (name, time, value) => {
        const record = createJsonTsdEncoder(table(name, ...METERS)).encode(
          row({ at: writer.write(time * 1000), ...value }),
        );
        const names = ['small', 'large', 'double', 'exact', 'flag', 'note'] as const;
        if (record === null) {
          assert.ok(names.every((column) => value[column] === null));
          return;
        }
        const found = await readBack(decoder, record, name);
        assert.equal(found.get('at'), time * 1000);
        for (const column of [...names, 'site', 'rack'] as const) {
          assert.ok(sameNumber(asText(found.get(column)), value[column]), `${column}: ${record}`);
        }
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  it('are read back by the sink as the same numbers and tags (line_tsd)', async () => {
    const decoder = new LineTsdDecoder({ precision: 'ms' });
    const property = fc.asyncProperty(
      word.filter((name) => Buffer.byteLength(name) <= 63),
      millis,
      cells(word),
      async (name, time, value) => {
        const record = createLineTsdEncoder(table(name, ...METERS)).encode(
          row({ at: writer.write(time * 1000), ...value }),
        );
        const written = (['small', 'large', 'double', 'exact'] as const).filter((column) =>
          /\d$/.test(value[column] ?? ''),
        );
        if (record === null) {
          assert.deepEqual(written, []);
          return;
        }
        const found = await readBack(decoder, record, name);
        assert.equal(found.get('at'), time * 1000);
        for (const column of [...written, 'site', 'rack'] as const) {
          assert.ok(sameNumber(asText(found.get(column)), value[column]), `${column}: ${record}`);
        }
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });
});
