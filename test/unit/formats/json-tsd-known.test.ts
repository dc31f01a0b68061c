import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Decoded } from '../../../src/formats/format.ts';
import { JsonTsdDecoder } from '../../../src/formats/json-tsd.ts';
import { rowsOf } from './rows-of.ts';

const RECORD = { kind: 'record', topic: 'points', partition: 0, offset: 0 } as const;

const json = fc.constantFrom('1700000000', '17', '0.5', '"x"', '"}"', '"\\u00e6"', 'null', 'true', '[1]', '{}', '-0');
const broken = fc.constantFrom('', '"', '01', '{', ']', '+1', 'nul');
const value = fc.oneof({ weight: 12, arbitrary: json }, { weight: 1, arbitrary: broken });
const space = fc.constantFrom('', '', '', ' ', '\n');
const tagName = fc.constantFrom('"host"', '"rack"', '"\\u0068ost"', '"value"', '"primary_tag"');
const tags = fc
  .array(fc.tuple(tagName, fc.constantFrom(':', ': '), value), { maxLength: 3 })
  .map((all) => `{${all.map((parts) => parts.join('')).join(',')}}`);
const member = fc.oneof(
  fc.tuple(fc.constantFrom('"metric":', '"metric": '), fc.constantFrom('"a"', '"b.c"', '""', '5')),
  fc.tuple(fc.constantFrom('"timestamp":', '"timestamp" :'), fc.oneof(fc.constant('1700000000'), value)),
  fc.tuple(fc.constantFrom('"value":', '"v\\u0061lue":'), value),
  fc.tuple(fc.constantFrom('"tags":', '"tags":  '), fc.oneof(tags, value)),
  fc.tuple(fc.constantFrom('"other":', '"host":'), value),
);
const unusual = fc.array(member, { maxLength: 5 }).map((all) => `{${all.map((parts) => parts.join('')).join(',')}}`);
const usual = fc
  .tuple(fc.constantFrom('a', 'b.c'), fc.nat({ max: 9 }), json, tags)
  .map(
    ([metric, second, cell, set]) =>
      `{"metric":"${metric}","timestamp":170000000${String(second)},"value":${cell},"tags":${set}}`,
  );
const point = fc.tuple(space, fc.oneof(usual, usual, unusual, json), space).map((parts) => parts.join(''));
const message = fc
  .tuple(
    fc.constantFrom('[', '[', '[ ', '', '[['),
    fc.array(point, { maxLength: 5 }),
    fc.constantFrom(']', ']', ']\n', '', ',]'),
  )
  .map(([head, points, tail]) => head + points.join(',') + tail);

function contents({ rows, faults }: Decoded): unknown {
  return { rows: rows.map(({ batch, metric }) => [metric, rowsOf(batch)]), faults };
}

function countOf({ rows, faults }: Decoded): [number, number] {
  return [rows.reduce((sum, { batch }) => sum + batch.rowCount, 0), faults.length];
}

describe('json_tsd messages of any kind', () => {
  it('are read as each of them is read alone, in one go or in parts', () => {
    const warm = new JsonTsdDecoder();
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (messages) => {
        for (const text of [...messages, ...messages]) {
          warm.add(Buffer.from(text), RECORD);
          const fresh = new JsonTsdDecoder();
          fresh.add(text, RECORD);
          const alone = fresh.take();
          assert.deepEqual(contents(warm.take()), contents(alone), text);
          const parts = [...fresh.addInParts(text, RECORD, 2)].map(countOf);
          const total = parts.reduce(([rows, faults], part) => [rows + part[0], faults + part[1]], [0, 0]);
          assert.deepEqual(total, countOf(alone), text);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('give a row or a fault for every point, exactly where JSON.parse reads them', () => {
    fc.assert(
      fc.property(message, (text) => {
        const decoder = new JsonTsdDecoder();
        decoder.add(text, RECORD);
        const [rows, faults] = countOf(decoder.take());
        const points = parsed(text);
        if (points === undefined) assert.deepEqual([rows, faults], [0, 1], text);
        else assert.equal(rows + faults, points.length, text);
        const good = (points ?? []).filter(isPoint).length;
        // Keys that occur twice are a fault here and the last one for JSON.parse. No string of these messages has a colon.
        const isUnique = keyCount(points) === text.split(':').length - 1;
        assert.ok(isUnique && points !== undefined ? rows === good : rows <= good, text);
      }),
      { numRuns: 3_000 },
    );
  });

  it('of any characters do not break the decoder', () => {
    const decoder = new JsonTsdDecoder();
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' }), fc.uint8Array()), (text) => {
        decoder.add(text, RECORD);
        decoder.take();
        decoder.add('{"metric":"m","timestamp":1700000000,"value":1}', RECORD);
        assert.deepEqual(countOf(decoder.take()), [1, 0]);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The points of a message that is one; `undefined` for any other. */
function parsed(text: string): unknown[] | undefined {
  try {
    const read = JSON.parse(text) as unknown;
    if (Array.isArray(read)) return read as unknown[];
    return typeof read === 'object' && read !== null ? [read] : undefined;
  } catch {
    return undefined;
  }
}

function isPoint(candidate: unknown): boolean {
  if (typeof candidate !== 'object' || candidate === null || Array.isArray(candidate)) return false;
  const { metric, timestamp, value: cell, tags: set } = candidate as Record<string, unknown>;
  const time = typeof timestamp === 'number' && [10, 13, 16, 19].includes(String(Math.abs(timestamp)).length);
  const isTags =
    set === undefined ||
    set === null ||
    (typeof set === 'object' &&
      !Array.isArray(set) &&
      Object.entries(set).every(([name, tag]) => name !== 'value' && /string|number/.test(typeof tag)));
  return typeof metric === 'string' && metric !== '' && time && /string|number|boolean/.test(typeof cell) && isTags;
}

function keyCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce((sum: number, member) => sum + keyCount(member), 0);
  return Array.isArray(value) ? inside : inside + Object.keys(value).length;
}
