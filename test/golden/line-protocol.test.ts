import assert from 'node:assert/strict';
import type { Cell } from '../../src/data/row-batch.ts';
import { floorTo } from '../../plugins/database/formats/unix-time.ts';
import { LineScanner } from '../../plugins/database/formats/line-lp/line-scan.ts';
import { messageText } from '../../plugins/database/formats/message-text.ts';
import { ACCEPTED, REFUSED, type AcceptedCase, type Line } from './line-protocol-cases.ts';
import { cellText, decodeTwice, rowsInBatches, TIME_COLUMN } from './line-protocol-rows.ts';

const NOW = 1_700_000_000_123_456;
const NANOS = { s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n } as const;

/** The lines by the grammar alone. */
function scan({ text, precision = 'ns', escapes }: AcceptedCase): Line[] {
  const scanner = new LineScanner(escapes);
  const message = messageText(text);
  scanner.open(message.text, message.valid);
  const lines: Line[] = [];
  while (scanner.next() === 'line') {
    const { measurement, tagKeys, tagValues, fieldKeys, fieldValues, time } = scanner.line;
    lines.push({
      name: measurement,
      tags: Object.fromEntries(tagKeys.map((key, index) => [key, tagValues[index] ?? ''])),
      fields: Object.fromEntries(
        fieldValues.map(({ type, cell }, index) => [fieldKeys[index] ?? '', [type, cell] as const]),
      ),
      time: time === undefined ? undefined : String(BigInt(time) * NANOS[precision]),
    });
  }
  return lines;
}

/** The rows that the lines should become, by table. */
function rowsOf(lines: readonly Line[], { precision = 'ns' }: AcceptedCase): Map<string, Record<string, Cell>[]> {
  const tables = new Map<string, Record<string, Cell>[]>();
  for (const { name, tags, fields, time } of lines) {
    const row: Record<string, Cell> = {
      [TIME_COLUMN]: String(time === undefined ? floorTo(precision, NOW) : micros(time)),
    };
    for (const [key, [type, cell]] of Object.entries(fields)) {
      row[key] = cellText(type === 'NUMERIC' ? Number(cell) : cell);
    }
    tables.set(name, [...(tables.get(name) ?? []), { ...row, ...tags }]);
  }
  return tables;
}

function micros(nanos: string): bigint {
  const value = BigInt(nanos);
  return (value - (((value % 1000n) + 1000n) % 1000n)) / 1000n;
}

function bytesOf(text: string | Uint8Array): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text);
}

describe('line protocol', () => {
  for (const [title, cases] of Object.entries(ACCEPTED)) {
    it(`is read: ${title}`, () => {
      for (const each of cases) {
        const { text, lines, precision = 'ns', escapes } = each;
        const { batches, faults } = decodeTwice(text, { precision, now: () => NOW, stringEscapes: escapes });
        assert.deepEqual({ text, lines: scan(each), faults }, { text, lines, faults: [] });
        assert.deepEqual(rowsInBatches(batches), rowsOf([...lines, ...lines], each), String(text).slice(0, 200));
      }
    });
  }

  for (const [title, cases] of Object.entries(REFUSED)) {
    it(`is refused, one line and no other: ${title}`, () => {
      for (const { text, problem, precision = 'ns' } of cases) {
        const policy = { precision, now: () => NOW };
        const alone = decodeTwice(text, policy);
        const several = bytesOf(text).subarray(0, -1).includes('\n');
        const place = several ? 'line protocol, line 1 of the message' : 'line protocol';
        assert.deepEqual(alone, { batches: [], faults: [`${place}: ${problem}`] });
        const between = decodeTwice(
          Buffer.concat([bytesOf('ok f=1 1\n'), bytesOf(text), bytesOf('\nok f=2 2')]),
          policy,
        );
        const rows = rowsInBatches(between.batches);
        assert.deepEqual(
          rows.get('ok')?.map(({ f }) => f),
          ['1', '2', '1', '2'],
          String(text).slice(0, 200),
        );
        assert.equal(rows.size, 1);
        assert.equal(between.faults.length, 1);
        assert.match(between.faults[0] ?? '', /^line protocol, line 2 of the message: /);
      }
    });
  }

  after(() => {
    const count = (cases: Readonly<Record<string, readonly unknown[]>>) => String(Object.values(cases).flat().length);
    console.log(`      line protocol: ${count(ACCEPTED)} texts are read, ${count(REFUSED)} are refused`);
  });
});
