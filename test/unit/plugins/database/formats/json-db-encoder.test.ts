import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell, ColumnRole } from '../../../../../src/data/row-batch.ts';
import type { EncodedTable } from '../../../../../plugins/database/formats/format.ts';
import { createJsonDbEncoder } from '../../../../../plugins/database/formats/json-db/json-db-encoder.ts';
import { JsonDbDecoder } from '../../../../../plugins/database/formats/json-db/json-db.ts';
import { TimestampWriter } from '../../../../../plugins/database/sql/timestamp-text.ts';

function table(...columns: [name: string, type: string, role?: ColumnRole, nullable?: boolean][]): EncodedTable {
  return {
    name: { name: 'met"er' },
    columns: columns.map(([name, type, role, nullable]) => ({
      name,
      type,
      role: role ?? 'data',
      nullable: nullable ?? true,
    })),
  };
}

/** The one row of a record, as text: what JSON.parse would round stays as it is. */
function rowText(encoded: string | null): string {
  return /"data":\[(\{.*\})\],"tags"/s.exec(encoded ?? '')?.[1] ?? '';
}

describe('a json_db record', () => {
  it('has table, columns, data and tags in that order, one row, time first and tags last', () => {
    const encoder = createJsonDbEncoder(
      table(
        ['site', 'character varying(64)', 'primary-tag', false],
        ['k_timestamp', 'timestamp(3) with time zone', 'time', false],
        ['temp', 'double precision'],
        ['rack', 'character varying', 'tag'],
      ),
    );
    const text = encoder.encode(['oslo', '2023-11-14 22:13:20.123+00', '21.5', null]);
    assert.equal(
      text,
      '{"table":"met\\"er","columns":[{"name":"k_timestamp","type":"TIMESTAMPTZ","length":64},{"name":"temp","type":"FLOAT8","length":64}],' +
        '"data":[{"k_timestamp":1700000000123,"temp":21.5,"site":"oslo","rack":null}],' +
        '"tags":[{"name":"site","type":"VARCHAR","length":64,"isPrimary":true,"nullable":false},{"name":"rack","type":"VARCHAR","length":0,"isPrimary":false,"nullable":true}]}',
    );
  });

  it('uses the documented type names, with bits for fixed types and characters for strings', () => {
    const types: [string, string, number][] = [
      ['smallint', 'INT2', 16],
      ['integer', 'INT4', 32],
      ['bigint', 'INT8', 64],
      ['real', 'FLOAT4', 32],
      ['double precision', 'FLOAT8', 64],
      ['boolean', 'BOOL', 1],
      ['timestamp with time zone', 'TIMESTAMPTZ', 64],
      ['timestamp(3) without time zone', 'TIMESTAMP', 64],
      ['character varying(12)', 'VARCHAR', 12],
      ['character(3)', 'CHAR', 3],
      ['text', 'TEXT', 0],
      ['numeric(10,2)', 'DECIMAL', 10],
      ['numeric', 'DECIMAL', 0],
      ['bytea', 'VARBYTES', 0],
      ['jsonb', 'JSONB', 0],
      ['uuid', 'UUID', 128],
      ['integer[]', 'VARCHAR', 0],
      ['my_enum', 'VARCHAR', 0],
    ];
    const encoder = createJsonDbEncoder(
      table(...types.map(([type], index): [string, string] => [`c${String(index)}`, type])),
    );
    const record = JSON.parse(encoder.encode(types.map(() => null)) ?? '') as {
      columns: { type: string; length: number }[];
    };
    assert.deepEqual(
      record.columns.map(({ type, length }) => [type, length]),
      types.map(([, name, length]) => [name, length]),
    );
  });

  it('writes values with all their digits, and as JSON allows', () => {
    const values: [string, string, string][] = [
      ['bigint', '-9223372036854775808', '-9223372036854775808'],
      ['numeric', '12345678901234567890.10', '12345678901234567890.10'],
      ['numeric', 'NaN', '"NaN"'],
      ['double precision', '1e-07', '1e-07'],
      ['double precision', '-Infinity', '"-Infinity"'],
      ['real', 'NaN', '"NaN"'],
      ['boolean', 't', 'true'],
      ['boolean', 'f', 'false'],
      ['text', 'a\n"ø"\u2028\\', '"a\\n\\"ø\\"\u2028\\\\"'],
      ['jsonb', '{"a": [1, 12345678901234567890]}', '{"a": [1, 12345678901234567890]}'],
      ['json', '{\n  "a\\n": 1\r\n}', '{   "a\\n": 1 }'],
      ['bytea', '\\x00ff', '"\\\\x00ff"'],
      ['timestamp with time zone', '2024-05-06 07:08:09.256789+02', '1714972089256'],
      ['timestamp without time zone', '1969-12-31 23:59:59.9999', '-1'],
      ['timestamp with time zone', 'infinity', '"infinity"'],
      ['date', '2024-05-06', '"2024-05-06"'],
      ['integer[]', '{1,2}', '"{1,2}"'],
    ];
    assert.deepEqual(
      values.map(([type, cell]) => rowText(createJsonDbEncoder(table(['x', type])).encode([cell]))),
      values.map(([, , json]) => `{"x":${json}}`),
    );
  });

  it('has times in the requested unit', () => {
    const times = (['s', 'ms', 'us', 'ns'] as const).map((precision) =>
      rowText(
        createJsonDbEncoder(table(['t', 'timestamp with time zone']), { precision }).encode([
          '2024-05-06 07:08:09.256789+00',
        ]),
      ),
    );
    assert.deepEqual(times, [
      '{"t":1714979289}',
      '{"t":1714979289256}',
      '{"t":1714979289256789}',
      '{"t":1714979289256789000}',
    ]);
  });

  it('is one line, whatever the row holds', () => {
    const encoder = createJsonDbEncoder(table(['a\nb', 'text'], ['j', 'json']));
    assert.doesNotMatch(encoder.encode(['\r\n', '[\n1\n]']) ?? '\n', /[\n\r]/);
  });

  it('is read back by the sink unchanged', () => {
    const writer = new TimestampWriter('+00');
    const nullable = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);
    const row = fc.record({
      micros: fc.bigInt({ min: -60_000_000_000_000_000n, max: 250_000_000_000_000_000n }),
      small: nullable(fc.integer({ min: -32_768, max: 32_767 })),
      large: nullable(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      double: nullable(fc.double()),
      exact: nullable(
        fc.tuple(fc.bigInt(), fc.nat({ max: 999 })).map(([whole, part]) => `${String(whole)}.${String(part)}`),
      ),
      flag: nullable(fc.boolean()),
      text: nullable(fc.string({ unit: 'grapheme' })),
      bytes: nullable(fc.uint8Array()),
      json: nullable(fc.json().filter((json) => json !== 'null' && !/[\n\r]/.test(json))),
      tag: fc.string({ unit: 'grapheme', minLength: 1 }),
    });
    const encoder = createJsonDbEncoder(
      table(
        ['at', 'timestamp with time zone', 'time', false],
        ['small', 'smallint'],
        ['large', 'bigint'],
        ['double', 'double precision'],
        ['exact', 'numeric'],
        ['flag', 'boolean'],
        ['text', 'text'],
        ['bytes', 'bytea'],
        ['json', 'jsonb'],
        ['tag', 'character varying(64)', 'primary-tag', false],
      ),
      { precision: 'us' },
    );
    const decoder = new JsonDbDecoder({ precision: 'us' });
    const asText = (value: number | bigint | null) =>
      value === null ? null : Object.is(value, -0) ? '-0' : String(value);
    fc.assert(
      fc.property(row, (value) => {
        const hex = value.bytes === null ? null : `\\x${Buffer.from(value.bytes).toString('hex')}`;
        const flag = value.flag === null ? null : value.flag ? 't' : 'f';
        const cells = [
          asText(value.small),
          asText(value.large),
          asText(value.double),
          value.exact,
          flag,
          value.text,
          hex,
          value.json,
          value.tag,
        ];
        decoder.add(encoder.encode([writer.write(value.micros), ...cells]) ?? '', { kind: 'line', line: 1 });
        const { rows, faults } = decoder.take();
        assert.deepEqual(faults, []);
        const batch = rows[0]?.batch;
        assert.deepEqual(
          batch?.columns.map(({ role, kind }) => `${role} ${kind}`),
          [
            'time time',
            'data int',
            'data int',
            'data float',
            'data numeric',
            'data bool',
            'data text',
            'data bytes',
            'data json',
            'primary-tag text',
          ],
        );
        const read = batch?.columns.map(({ kind, cells: all }) => back(kind, all[0] ?? null));
        assert.deepEqual(read, [String(value.micros), ...cells]);
      }),
      { numRuns: 200 },
    );
  });
});

/** A cell as the text that it was written from. */
function back(kind: string, cell: Cell): string | null {
  if (cell === null) return null;
  if (cell instanceof Uint8Array) return `\\x${Buffer.from(cell).toString('hex')}`;
  if (kind === 'bool') return cell === true ? 't' : 'f';
  return Object.is(cell, -0) ? '-0' : String(cell);
}
