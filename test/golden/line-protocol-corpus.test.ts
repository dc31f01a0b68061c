import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Cell } from '../../src/data/row-batch.ts';
import type { Precision } from '../../plugins/database/formats/format.ts';
import { LineScanner, type ScannedLine } from '../../plugins/database/formats/line-lp/line-scan.ts';
import { fieldString, lineKey, lineName } from '../../plugins/database/formats/line-lp/line-write.ts';
import { messageText } from '../../plugins/database/formats/message-text.ts';
import { DECODE_DIFFERENCES } from './line-protocol-differences.ts';
import { cellText, decodeTwice, rowsInBatches, TIME_COLUMN } from './line-protocol-rows.ts';

const FILE = path.resolve(process.env.CORPUS_DIR ?? '../shared/corpus', 'line-protocol/corpus.json');

interface CorpusPoint {
  readonly time: string;
  readonly name: string;
  readonly tags: readonly { readonly key: string; readonly value: string }[];
  readonly fields: readonly { readonly key: string; readonly value: CorpusValue }[];
}
type CorpusValue = Readonly<Partial<Record<'int' | 'uint' | 'float' | 'bool' | 'string', string | number | boolean>>>;

interface EncodeCase {
  readonly input: { readonly point: CorpusPoint; readonly precision: string };
  readonly output: { readonly result?: string; readonly error?: string };
}

interface DecodeCase {
  readonly input: {
    readonly text: string | { readonly binary: string };
    readonly defaultTime: string;
    readonly precision: string;
    readonly implementation: string;
  };
  readonly output: { readonly result?: readonly CorpusPoint[]; readonly error?: string };
}

const PRECISIONS: Readonly<Record<string, Precision>> = { '1s': 's', '1ms': 'ms', '1µs': 'us', '1ns': 'ns' };
const NANOS: Readonly<Record<Precision, bigint>> = { s: 1_000_000_000n, ms: 1_000_000n, us: 1_000n, ns: 1n };

/** The corpus with its 64-bit integers as text, which JSON.parse would round. */
function readCorpus(): { decode: Record<string, DecodeCase>; encode: Record<string, EncodeCase> } {
  const text = readFileSync(FILE, 'utf8').replace(/"(time|int|uint|defaultTime)":\s*(-?\d+)/g, '"$1":"$2"');
  return JSON.parse(text) as ReturnType<typeof readCorpus>;
}

function inputOf(test: DecodeCase): string | Buffer {
  const { text } = test.input;
  return typeof text === 'string' ? text : Buffer.from(text.binary, 'base64');
}

/** The lines by the grammar alone, with times in nanoseconds. */
function scanPoints(test: DecodeCase): CorpusPoint[] {
  const { text, valid } = messageText(inputOf(test));
  const scanner = new LineScanner();
  scanner.open(text, valid);
  const points: CorpusPoint[] = [];
  while (scanner.next() === 'line') points.push(pointOf(scanner.line, test));
  return points;
}

function pointOf(line: ScannedLine, test: DecodeCase): CorpusPoint {
  const unit = NANOS[PRECISIONS[test.input.precision] ?? 'ns'];
  const given = BigInt(test.input.defaultTime);
  const time = line.time === undefined ? given - (given % unit) : BigInt(line.time) * unit;
  const tags = line.tagKeys.map((key, index) => ({ key, value: line.tagValues[index] ?? '' }));
  const fields = line.fieldKeys.map((key, index) => ({ key, value: valueOf(line, index) }));
  return { time: String(time), name: line.measurement, tags: sorted(tags), fields };
}

function valueOf(line: ScannedLine, index: number): CorpusValue {
  const value = line.fieldValues[index];
  assert.ok(value);
  switch (value.type) {
    case 'INT8':
      return { int: String(value.cell) };
    case 'UINT8':
      return { uint: String(value.cell) };
    case 'FLOAT8':
    case 'NUMERIC':
      return { float: Number(value.cell) + 0 };
    case 'BOOL':
      return { bool: value.cell === true };
    default:
      return { string: String(value.cell) };
  }
}

function sorted<T extends { readonly key: string }>(tags: readonly T[]): T[] {
  return [...tags].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
}

/** The cells a point should have become, by table and column; rows of a table in order. */
function rowsOf(points: readonly CorpusPoint[]): Map<string, Record<string, Cell>[]> {
  const tables = new Map<string, Record<string, Cell>[]>();
  for (const point of points) {
    const row: Record<string, Cell> = { [TIME_COLUMN]: floorMicros(BigInt(point.time)) };
    for (const tag of point.tags) row[tag.key] = tag.value;
    for (const field of point.fields) row[field.key] = cellText(Object.values(field.value)[0] ?? null);
    tables.set(point.name, [...(tables.get(point.name) ?? []), row]);
  }
  return tables;
}

function floorMicros(nanos: bigint): string {
  return String((nanos - (((nanos % 1000n) + 1000n) % 1000n)) / 1000n);
}

function difference(test: DecodeCase): string | undefined {
  const { batches, faults } = decodeTwice(inputOf(test), {
    precision: PRECISIONS[test.input.precision] ?? 'ns',
    now: () => Number(BigInt(test.input.defaultTime) / 1000n),
  });
  const { result } = test.output;
  if (result === undefined)
    return faults.length > 0 ? undefined : `accepted, the corpus says ${String(test.output.error)}`;
  if (faults.length > 0) return 'refused, the corpus accepts';
  const expected = result.map((point) => ({ ...point, tags: sorted(point.tags) }));
  try {
    assert.deepEqual(scanPoints(test), expected);
    assert.deepEqual(rowsInBatches(batches), rowsOf([...expected, ...expected]));
    return undefined;
  } catch (error) {
    return `other points: ${(error as Error).message}`;
  }
}

function encodeDifference({ input: { point, precision }, output }: EncodeCase): string | undefined {
  let line: string;
  try {
    line = writtenLine(point, NANOS[PRECISIONS[precision] ?? 'ns']);
  } catch (error) {
    return output.result === undefined ? undefined : `refused: ${(error as Error).message}`;
  }
  if (output.result === undefined) return `written as ${line}, the corpus says ${String(output.error)}`;
  // How a double is spelled is free; the point that is read back is not.
  const exponents = (text: string) => text.replace(/(\d)\.?(\d*)e\+?0*(\d+)/g, (double) => String(Number(double)));
  return exponents(line) === exponents(output.result) ? undefined : `written as ${line}, not ${output.result}`;
}

function writtenLine({ name, tags, fields, time }: CorpusPoint, unit: bigint): string {
  assert.ok(fields.length > 0, 'line protocol has no line without fields');
  const series = [lineName(name), ...tags.map(({ key, value }) => `${lineKey(key)}=${lineKey(value)}`)];
  const written = fields.map(({ key, value }) => `${lineKey(key)}=${writtenValue(value)}`);
  return `${series.join(',')} ${written.join(',')} ${String(BigInt(time) / unit)}`;
}

function writtenValue(value: CorpusValue): string {
  if (value.int !== undefined) return `${String(value.int)}i`;
  if (value.uint !== undefined) return `${String(value.uint)}u`;
  return value.string === undefined ? String(value.float ?? value.bool) : fieldString(String(value.string));
}

describe('the public line protocol corpus', function () {
  before(function () {
    if (existsSync(FILE)) return;
    console.log(`skipped: no corpus at ${FILE} (set CORPUS_DIR)`);
    this.skip();
  });

  it('is decoded with its verdicts and points, listed differences aside', function () {
    const known = new Map(Object.entries(DECODE_DIFFERENCES).flatMap(([rule, ids]) => ids.map((id) => [id, rule])));
    const counts = new Map<string, { held: number; known: number }>();
    const unexpected: string[] = [];
    for (const [id, test] of Object.entries(readCorpus().decode)) {
      const section = `${test.input.implementation} ${test.output.result === undefined ? 'refused' : 'accepted'}`;
      const count = counts.get(section) ?? { held: 0, known: 0 };
      counts.set(section, count);
      const found = difference(test);
      if (found === undefined) count.held++;
      else if (known.has(id)) count.known++;
      else unexpected.push(`${id} ${JSON.stringify(test.input.text)}: ${found}`);
      if (found === undefined && known.has(id)) unexpected.push(`${id}: listed as a difference, but it holds`);
    }
    const held = [...counts.values()].reduce((sum, count) => sum + count.held, 0);
    const total = [...counts.values()].reduce((sum, count) => sum + count.held + count.known, unexpected.length);
    const sections = [...counts].map(([section, count]) => `${section} ${String(count.held)}`);
    console.log(`line protocol corpus, decode: ${String(held)} of ${String(total)} (${sections.join(', ')})`);
    assert.deepEqual(unexpected, []);
  });

  it('is encoded to its lines', () => {
    const cases = Object.entries(readCorpus().encode);
    const unexpected = cases.flatMap(([id, test]) => {
      const found = encodeDifference(test);
      return found === undefined ? [] : [`${id}: ${found}`];
    });
    console.log(`line protocol corpus, encode: ${String(cases.length - unexpected.length)} of ${String(cases.length)}`);
    assert.deepEqual(unexpected, []);
  });
});
