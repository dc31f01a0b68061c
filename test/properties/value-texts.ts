import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readTimestamp } from '../../plugins/database/formats/timestamp-read.ts';
import { unixMicros } from '../../plugins/database/formats/unix-time.ts';
import { arrayLiteral } from '../../plugins/database/sql/array-literal.ts';
import {
  END_TIMESTAMP_MICROS,
  MIN_TIMESTAMP_MICROS,
  TimestampWriter,
} from '../../plugins/database/sql/timestamp-text.ts';
import { hostileText, nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

const writer = new TimestampWriter('+00');
const instant = fc.oneof(
  fc.bigInt({ min: MIN_TIMESTAMP_MICROS, max: END_TIMESTAMP_MICROS - 1n }),
  fc.bigInt({ min: 0n, max: 4_000_000_000_000_000n }),
);
const SHAPES = [
  '2024-05-06 07:08:09',
  '2024-05-06T07:08:09.25Z',
  '2024-05-06 07:08:09.25-03:30',
  '0001-01-01 00:00:00+00 BC',
];
const PIECES = ['', '0', '9', '-', '+', ':', '.', ' ', 'T', 'Z', 'BC', ',', '\0', 'é', '٣'];
const timeText = withLongOnes(
  fc.oneof(nearly(fc.constantFrom(...SHAPES, 'infinity'), PIECES), fc.string({ unit: 'binary', maxLength: 30 })),
  fc.constantFrom(...PIECES.slice(1)),
);

const UNIT_NANOS = { s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n } as const;

/** The meaning of an integer, computed with integers alone. */
function microsOf(text: string, precision: keyof typeof UNIT_NANOS): bigint | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const value = BigInt(text);
  if (precision === 'ns' && (value < -(2n ** 63n) || value >= 2n ** 63n)) return undefined;
  const nanos = value * UNIT_NANOS[precision];
  const micros = (nanos - (((nanos % 1000n) + 1000n) % 1000n)) / 1000n;
  const isInRange = micros >= MIN_TIMESTAMP_MICROS && micros < END_TIMESTAMP_MICROS;
  return isInRange || precision === 'ns' ? micros : undefined;
}

const integerText = fc.oneof(
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String),
  fc.bigInt({ min: -(10n ** 13n), max: 10n ** 13n }).map(String),
  nearly(fc.constantFrom('1700000000123456789', '-1', '0', '9223372036854775807', '999999999999999999999'), PIECES),
);

const TEXT = {
  family: 'text',
  typeOid: 25,
  precision: 6,
  maxLength: undefined,
  acceptsNull: true,
  binary: false,
} as const;

/** The elements of an array literal, by PostgreSQL's rules (array_in): NULL without quotes, backslash before any character. */
function elementsOf(literal: string): (string | null)[] {
  const elements: (string | null)[] = [];
  const element = /(?:"((?:[^"\\]|\\[^])*)"|([^,"{}\\]+))(,|\}$)/gy;
  element.lastIndex = 1;
  if (literal === '{}') return elements;
  while (element.lastIndex < literal.length) {
    const match = element.exec(literal);
    assert.ok(match !== null, literal);
    elements.push(match[2] === 'NULL' ? null : (match[1]?.replace(/\\([^])/g, '$1') ?? match[2] ?? ''));
  }
  return elements;
}

export const VALUE_TEXTS: readonly ParserProperty[] = [
  parserProperty('a time as the database writes it reads back to the microsecond', instant, () => (micros) => {
    const text = writer.write(micros);
    assert.equal(BigInt(readTimestamp(text) ?? 0.5), micros, text);
  }),
  parserProperty('a time in any text is an instant or none', timeText, () => (text) => {
    const read = readTimestamp(text);
    if (typeof read === 'number') assert.ok(Number.isSafeInteger(read), text);
    // `Date` reads the usual form as the same instant.
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{2,3}Z$/.test(text)) return;
    const date = Date.parse(text);
    const isReal = !Number.isNaN(date) && new Date(date).toISOString().startsWith(text.slice(0, 19));
    if (isReal) assert.equal(BigInt(read ?? 0.5), BigInt(date) * 1000n, text);
  }),
  parserProperty(
    'an integer time means what its digits say, to the last one',
    fc.tuple(integerText, fc.constantFrom('s', 'ms', 'us', 'ns'), fc.constantFrom('', 'x', '12')),
    () =>
      ([text, precision, around]) => {
        const read = unixMicros(around + text + around, around.length, around.length + text.length, precision);
        const expected = microsOf(text, precision);
        assert.equal(read === undefined ? undefined : BigInt(read), expected, `${text} ${precision}`);
        if (typeof read === 'number') assert.ok(Number.isSafeInteger(read));
      },
  ),
  parserProperty(
    'the cells of a column are what its array literal holds, in order',
    fc.array(fc.option(hostileText), { maxLength: 8 }),
    () => (cells) => {
      const refused = new Set<number>();
      const rows = Int32Array.from(cells.keys());
      const literal = arrayLiteral(cells, 'text', rows, TEXT, (row) => refused.add(row));
      assert.deepEqual(
        elementsOf(literal),
        cells.map((cell, row) => (refused.has(row) ? null : cell)),
      );
      for (const [row, cell] of cells.entries()) {
        assert.equal(refused.has(row), cell !== null && /\0|\p{Surrogate}/u.test(cell), JSON.stringify(cell));
      }
    },
  ),
];
