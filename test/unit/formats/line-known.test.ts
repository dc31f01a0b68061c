import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell } from '../../../src/data/row-batch.ts';
import type { Decoded } from '../../../src/formats/format.ts';
import { LineLpDecoder } from '../../../src/formats/line-lp.ts';

const POLICY = { precision: 'ms', now: () => 42 } as const;

/** Pieces that make lines of few shapes, so that most lines are of a known one, with odd values strewn in. */
const series = fc.constantFrom('t', 't,a=1', 't,a=2', 't,a=2,b=x', 't,b=x', 'u', 'u,a=\\ x', 't,a', '', '# t');
const key = fc.constantFrom('f', 'f', 'g', 'h\\ 1', 'f=', '');
const value = fc.oneof(
  fc.double().map(String),
  fc.integer().map((integer) => `${String(integer)}i`),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map((integer) => `${String(integer)}i`),
  fc.constantFrom(
    '1',
    '-1',
    '-0',
    '0.5',
    '1.',
    '.5',
    '-.5',
    '1e3',
    '1E-3',
    '-',
    '.',
    '1.2.3',
    '1i16',
    '70000i16',
    '2u',
  ),
  fc.constantFrom(
    '123456789012345',
    '1234567890123456',
    '9007199254740993',
    '0.12345678901234567',
    '12345678901234567.8',
  ),
  fc.constantFrom('t', 'true', 'tru', '"x"', '"x y, z=1"', '"a\\"b"', '"a\nb"', '"', "'x'", 'L"x"', '"ø"', ''),
);
const time = fc.constantFrom(
  '',
  '',
  ' 1',
  ' -1',
  ' 1700000000000',
  ' 99999999999999999999',
  ' 1x',
  '  5 ',
  ' 0 \r',
  '\r',
);
const line = fc
  .tuple(series, fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 3 }), time)
  .map(([head, fields, tail]) => `${head} ${fields.map(([name, cell]) => `${name}=${cell}`).join(',')}${tail}`);

/** Rows in order with their cells as text, nulls left out; how a number is kept depends on its neighbours, its value not. */
function contents(decoded: Decoded): unknown {
  const rows = decoded.rows.flatMap(({ batch }) =>
    Array.from({ length: batch.rowCount }, (_, row) => {
      const cells = batch.columns.map(({ name, role, cells: all }) => [name, role, asText(all[row] ?? null)] as const);
      return [batch.table.name, ...cells.filter(([, , cell]) => cell !== null).sort((a, b) => (a[0] < b[0] ? -1 : 1))];
    }),
  );
  return {
    rows,
    faults: decoded.faults.map(({ message, table }) => [message.replace(/, line \d+ of the message/, ''), table]),
  };
}

function asText(cell: Cell): string | boolean | null {
  if (cell === null || typeof cell === 'boolean') return cell;
  return Object.is(cell, -0) ? '-0' : String(cell);
}

describe('lines of known shapes', () => {
  it('are read as the grammar reads each of them alone', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
        const warm = new LineLpDecoder(POLICY);
        const record = { kind: 'record', topic: 'lines', partition: 0, offset: 0 } as const;
        for (const text of [...lines, ...lines]) {
          warm.add(text, record);
          const fresh = new LineLpDecoder(POLICY);
          fresh.add(text, record);
          assert.deepEqual(contents(warm.take()), contents(fresh.take()), text);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are read the same in one message as in several', () => {
    const whole = line.filter((text) => !/["'\n\r]/.test(text));
    fc.assert(
      fc.property(fc.array(whole, { minLength: 1, maxLength: 12 }), (lines) => {
        const record = { kind: 'record', topic: 'lines', partition: 0, offset: 0 } as const;
        const [together, apart] = [new LineLpDecoder(POLICY), new LineLpDecoder(POLICY)];
        together.add([...lines, ...lines].join('\n'), record);
        for (const text of [...lines, ...lines]) apart.add(text, record);
        assert.deepEqual(contents(together.take()), contents(apart.take()));
      }),
      { numRuns: 500 },
    );
  });
});
