import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell } from '../../src/data/row-batch.ts';
import type { Decoded } from '../../plugins/database/formats/format.ts';
import { LineLpDecoder } from '../../plugins/database/formats/line-lp/line-lp.ts';
import { linesOf } from './decoded.ts';
import { nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

const POLICY = { precision: 'ms', now: () => 42 } as const;
const RECORD = { kind: 'record', topic: 'lines', partition: 0, offset: 0 } as const;
const LINE = { kind: 'line', line: 1 } as const;

/** Pieces that make lines of few shapes, so that most lines are of a known one, with odd values strewn in. */
const series = fc.constantFrom('t', 't,a=1', 't,a=2', 't,a=2,b=x', 't,b=x', 'u', 'u,a=\\ x', 't,a', '', '# t');
const key = fc.constantFrom('f', 'f', 'g', 'h\\ 1', 'f=', '');
const NUMBERS = ['1', '-1', '-0', '0.5', '1.', '.5', '-.5', '1e3', '1E-3', '-', '.', '1.2.3', '1i16', '70000i16', '2u'];
const LONG_NUMBERS = ['123456789012345', '1234567890123456', '9007199254740993', '0.12345678901234567'];
const WORDS = ['t', 'true', 'tru', '"x"', '"x y, z=1"', '"a\\"b"', '"a\nb"', '"', "'x'", 'L"x"', '"ø"', ''];
const value = fc.oneof(
  fc.double().map(String),
  fc.integer().map((integer) => `${String(integer)}i`),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map((integer) => `${String(integer)}i`),
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...LONG_NUMBERS, '12345678901234567.8'),
  fc.constantFrom(...WORDS),
);
const time = fc.constantFrom(
  ...['', '', ' 1', ' -1', ' 1700000000000', ' 99999999999999999999', ' 1x', '  5 ', ' 0 \r', '\r'],
);
const line = fc
  .tuple(series, fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 3 }), time)
  .map(([head, fields, tail]) => `${head} ${fields.map(([name, cell]) => `${name}=${cell}`).join(',')}${tail}`);
/** Without anything that could begin a string: such a line ends where it ends. */
const wholeLine = line.filter((text) => !/["'\n\r]/.test(text));
const anyText = withLongOnes(
  fc
    .array(
      fc.oneof(line, nearly(line, ['', '\\', '"', ',', '=', ' ', '\0', '\n', '\ud800']), fc.string({ unit: 'binary' })),
      {
        maxLength: 8,
      },
    )
    .map((lines) => lines.join('\n')),
  fc.constantFrom('a', ',a=1', '\\', '"', '#', ' ', '\n', 't f=1\n', ',f=1', '1', '\\"', ',,'),
);

function decode(text: string | Uint8Array, origin: typeof RECORD | typeof LINE): Decoded {
  const decoder = new LineLpDecoder(POLICY);
  decoder.add(text, origin);
  return decoder.take();
}

/** Rows in order with their cells as text, nulls left out; how a number is kept depends on its neighbours, its value not. */
function contents(decoded: Decoded): unknown {
  const rows = decoded.rows.flatMap(({ batch }) =>
    Array.from({ length: batch.rowCount }, (_, row) => {
      const cells = batch.columns.map(({ name, role, cells: all }) => [name, role, asText(all[row] ?? null)] as const);
      return [batch.table.name, ...cells.filter(([, , cell]) => cell !== null).sort((a, b) => (a[0] < b[0] ? -1 : 1))];
    }),
  );
  const faults = decoded.faults.map(({ message, table }) => [message.replace(/, line \d+ of the message/, ''), table]);
  return { rows, faults };
}

function asText(cell: Cell): string | boolean | null {
  if (cell === null || typeof cell === 'boolean') return cell;
  return Object.is(cell, -0) ? '-0' : String(cell);
}

export const LINE_LP: readonly ParserProperty[] = [
  parserProperty(
    'line_lp reads lines of known shapes as the grammar reads each of them alone',
    fc.array(line, { minLength: 1, maxLength: 12 }),
    () => (lines) => {
      const warm = new LineLpDecoder(POLICY);
      for (const text of [...lines, ...lines]) {
        warm.add(text, RECORD);
        assert.deepEqual(contents(warm.take()), contents(decode(text, RECORD)), text);
      }
    },
  ),
  parserProperty(
    'line_lp reads lines the same in one message as in several',
    fc.array(wholeLine, { minLength: 1, maxLength: 12 }),
    () => (lines) => {
      const [together, apart] = [new LineLpDecoder(POLICY), new LineLpDecoder(POLICY)];
      together.add([...lines, ...lines].join('\n'), RECORD);
      for (const text of [...lines, ...lines]) apart.add(text, RECORD);
      assert.deepEqual(contents(together.take()), contents(apart.take()));
    },
  ),
  parserProperty(
    'line_lp gives a row or a fault for every line, and one only',
    fc.array(wholeLine, { maxLength: 12 }),
    () => {
      const warm = new LineLpDecoder(POLICY);
      return (lines) => {
        const expected = lines.flatMap((text, index) => (/^ *(?:#|$)/.test(text) ? [] : [index + 1]));
        warm.add(lines.join('\n'), LINE);
        assert.deepEqual(linesOf(warm.take()), expected);
        assert.deepEqual(linesOf(decode(Buffer.from(lines.join('\r\n')), LINE)), expected);
      };
    },
  ),
  parserProperty('line_lp accepts no line of any text twice, and is whole again afterwards', anyText, () => {
    const warm = new LineLpDecoder(POLICY);
    return (text) => {
      warm.add(text, LINE);
      const lines = linesOf(warm.take());
      assert.equal(new Set(lines).size, lines.length);
      const last = text.split('\n').length;
      assert.ok(lines.every((number) => number >= 1 && number <= last));
      warm.add('t,a=1 f=1 5', LINE);
      assert.deepEqual(linesOf(warm.take()), [1]);
    };
  }),
];
