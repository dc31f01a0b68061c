import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Decoded } from '../../plugins/database/formats/format.ts';
import { LineTsdDecoder } from '../../plugins/database/formats/tsd/line-tsd.ts';
import { rowsOf } from '../unit/plugins/database/formats/rows-of.ts';
import { linesOf } from './decoded.ts';
import { nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

const LINE = { kind: 'line', line: 1 } as const;

const part = fc.constantFrom('put', 'm', 'sys.cpu', '1700000000', '1', '-2.5', 'a=b', 'c=d', 'a=', '', '=', 'ø=æ');
const blank = fc.constantFrom(' ', ' ', '  ', '\t', '\r');
const usual = fc.constantFrom('m 1700000000 1 a=b', 'sys.cpu 1700000001 2.5 a=b c=d', 'put m 1700000000 3');
const odd = fc.array(fc.tuple(part, blank), { maxLength: 7 }).map((parts) => parts.flat().join(''));
const end = fc.constantFrom('\n', '\n', '\r\n', '\n\n');
const line = fc.oneof(usual, odd, nearly(usual, ['', ' ', '=', '.', 'e', '\0', '\t']), fc.string({ unit: 'binary' }));
const message = withLongOnes(
  fc.array(fc.tuple(line, end), { maxLength: 8 }).map((lines) => lines.flat().join('')),
  fc.constantFrom(' ', 'a', '1', ' a=b', '=', 'm 1700000000 1\n', '\t\r', '.'),
);

function decode(text: string): Decoded {
  const decoder = new LineTsdDecoder();
  decoder.add(text, LINE);
  return decoder.take();
}

/** The rule in another form. */
function isGood(text = ''): boolean {
  const parts = text.split(/[ \t\v\f\r]+/).filter((candidate) => candidate !== '');
  if (parts[0] === 'put' && parts.length > 1) parts.shift();
  const [, time = '', number = '', ...tags] = parts;
  const names = tags.map((tag) => tag.split('=')[0]);
  return (
    /^-?\d{1,19}$/.test(time) &&
    /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(number) &&
    tags.every((tag) => /^[^=]+=./s.test(tag)) &&
    new Set(names).size === names.length
  );
}

export const LINE_TSD: readonly ParserProperty[] = [
  parserProperty('line_tsd gives a row or a fault for every line, the same whatever was read before', message, () => {
    const warm = new LineTsdDecoder();
    return (text) => {
      const decoded = decode(text);
      const lines = text.split('\n');
      const filled = lines.flatMap((content, index) => (/[^ \t\v\f\r]/.test(content) ? [index + 1] : []));
      const told = linesOf(decoded);
      // Very many bad lines are given up (MAX_FAULTS_PER_MESSAGE).
      const gaveUp = decoded.faults.length > 10_000;
      assert.deepEqual(told, gaveUp ? filled.slice(0, told.length) : filled);
      warm.add(text, LINE);
      const again = warm.take();
      assert.deepEqual(again.faults, decoded.faults);
      const contents = ({ rows }: Decoded): unknown => rows.map(({ batch, metric }) => [metric, rowsOf(batch)]);
      assert.deepEqual(contents(again), contents(decoded));
      if (lines.length > 100) return;
      const bad = new Set(decoded.faults.map(({ origin }) => (origin?.kind === 'line' ? origin.line : 0)));
      for (const number of filled) assert.equal(!bad.has(number), isGood(lines[number - 1]), lines[number - 1]);
    };
  }),
];
