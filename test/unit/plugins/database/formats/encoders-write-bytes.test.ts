import assert from 'node:assert/strict';
import { ByteWriter } from '../../../../../src/data/byte-writer.ts';
import type { EncodedTable, RowEncoder } from '../../../../../plugins/database/formats/format.ts';
import { createJsonDbEncoder } from '../../../../../plugins/database/formats/json-db/json-db-encoder.ts';
import { createLineLpEncoder } from '../../../../../plugins/database/formats/line-lp/line-lp-encoder.ts';
import { createJsonTsdEncoder } from '../../../../../plugins/database/formats/tsd/json-tsd-encoder.ts';
import { rowBlockOf } from './row-block-of.ts';

/** Texts as PostgreSQL prints values of these types, and what it never prints. */
const CELLS: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  smallint: ['0', '-32768', '7'],
  integer: ['2147483647', '-1', ''],
  bigint: ['9223372036854775807', '-9223372036854775808'],
  real: ['1.5', '-0', 'NaN', 'Infinity', '-Infinity', '1e-30', '3.4028235e+38'],
  'double precision': ['0.1', 'NaN', 'Infinity', '-1.7976931348623157e+308', '1e+20'],
  'numeric(20,4)': ['12345678901234567.8901', 'NaN', '-Infinity', '0.0000'],
  boolean: ['t', 'f', 'true', 'false', 'to'],
  'timestamp with time zone': [
    ...[
      '2026-01-01 00:00:00+00',
      '2026-01-01 00:00:00.001+00',
      '2026-01-01 23:59:59.999999+00',
      '1970-01-01 00:00:00+00',
    ],
    ...[
      '1969-12-31 23:59:59.9995+00',
      '0001-01-01 00:00:00+00 BC',
      '4713-11-24 00:00:00+00 BC',
      'infinity',
      '-infinity',
    ],
    ...[
      '294276-12-31 23:59:59.999999+00',
      '2026-01-01 02:00:00+02',
      '2026-01-01 05:30:00+05:30',
      '2024-02-29 12:00:00Z',
    ],
    ...['2023-02-29 00:00:00+00', '2026-13-01 00:00:00+00', '2026-01-01 24:00:00+00', '2026-01-01T00:00:00', 'x', ''],
    ...[
      '2026-01-01 00:00:00.+00',
      '2026-01-01 00:00:00.1234567+00',
      '20a6-01-01 00:00:00+00',
      '1890-05-05 01:02:03.000004+00',
    ],
  ],
  'timestamp(3) without time zone': [
    '2026-01-01 00:00:00',
    '1500-06-15 12:00:00.123',
    '-infinity',
    '10000-01-01 00:00:00',
  ],
  date: ['2026-01-01', 'infinity'],
  'character varying(64)': [
    'oslo',
    'a b,c=d',
    '"quoted" \\',
    'ü€😀',
    'tab\there',
    'line\nbreak',
    '',
    '#',
    '\u007f',
    '\u2028',
  ],
  text: [
    'x'.repeat(300),
    'a\\',
    '\u0001',
    'ascii and ünicode',
    Buffer.from([0x61, 0xff, 0x62]),
    Buffer.from([0xed, 0xa0, 0x80]),
  ],
  bytea: ['\\x00ff', '\\x'],
  json: ['{"a":1}', '{\n  "a": [1,\r\n2]}', '"ü"', 'null', Buffer.from([0x22, 0xc3, 0x22])],
  jsonb: ['{"a": "b\\"c"}', '[]'],
  interval: ['1 day 02:03:04', '-00:00:01'],
  'integer[]': ['{1,2,NULL}', '{"{1}"}'],
  uuid: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  mood: ['happy', 'not "so"'],
};
const TYPES = Object.keys(CELLS);
const ROLES = ['data', 'tag', 'primary-tag'] as const;

/** The same numbers in each run (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function tableOf(pick: (below: number) => number): EncodedTable {
  const columns = Array.from({ length: 1 + pick(8) }, (_, index) => ({
    name: `${['a', 'ü', 'with space', 'q"', 'x=y'][pick(5)] ?? ''}${String(index)}`,
    type: TYPES[pick(TYPES.length)] ?? 'text',
    nullable: true,
    role: ROLES[pick(3)] ?? 'data',
  }));
  const hasTime = pick(4) > 0;
  if (!hasTime) return { name: { name: 'm' }, columns };
  const time = { name: 'ts', type: 'timestamp with time zone', nullable: true, role: 'time' as const };
  columns.splice(pick(columns.length), 0, time as never);
  return { name: { name: 'meters €' }, columns };
}

function rowOf({ columns }: EncodedTable, pick: (below: number) => number): (string | Buffer | null)[] {
  const cells = columns.map(({ type }) => {
    const choices = CELLS[type] ?? [];
    return pick(5) === 0 ? null : (choices[pick(choices.length)] ?? null);
  });
  // Further columns are unknown to the format.
  return [...cells, pick(2) === 0 ? null : '12345'];
}

/** The result: a text, nothing, or an error. */
function outcome(make: () => string | null): string | null {
  try {
    return make();
  } catch (error) {
    return `${(error as Error).constructor.name}: ${(error as Error).message}`;
  }
}

function encoders(table: EncodedTable): (RowEncoder | undefined)[] {
  const precisions = ['ms', 'us', 'ns'] as const;
  const made = (make: () => RowEncoder): RowEncoder | undefined => {
    try {
      return make();
    } catch {
      return undefined;
    }
  };
  return [
    ...precisions.map((precision) => made(() => createJsonDbEncoder(table, { precision }))),
    ...precisions.map((precision) => made(() => createLineLpEncoder(table, { precision }))),
    made(() => createLineLpEncoder(table, { numbers: 'standard' })),
    ...(['s', 'ms'] as const).map((precision) => made(() => createJsonTsdEncoder(table, { precision }))),
  ];
}

describe('Rows that are written from bytes', () => {
  it('equal the rows written from texts byte for byte, in each format and for all types', () => {
    const pick = random(7);
    let compared = 0;
    for (let round = 0; round < 150; round++) {
      const table = tableOf(pick);
      const rows = Array.from({ length: 12 }, () => rowOf(table, pick));
      const block = rowBlockOf(rows, table.columns.length + 1);
      for (const encoder of encoders(table)) {
        if (encoder === undefined) continue;
        for (let index = 0; index < block.count; index++) {
          // One character for each byte: bytes that are no text must not become equal to it by being read.
          const expected = outcome(() => {
            const text = encoder.encode(block.row(index));
            return text === null ? null : Buffer.from(text).toString('latin1');
          });
          const written = outcome(() => {
            const out = new ByteWriter(4);
            const isSaid = encoder.write?.(block.bytes, block.cells(index), out) === true;
            return isSaid ? out.bytes.toString('latin1', 0, out.at) : null;
          });
          assert.equal(written, expected, JSON.stringify([table, block.row(index)]));
          compared++;
        }
      }
    }
    assert.ok(compared > 8_000, String(compared));
  });
});
