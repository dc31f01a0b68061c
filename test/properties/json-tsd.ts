import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Decoded } from '../../plugins/database/formats/format.ts';
import { JsonTsdDecoder } from '../../plugins/database/formats/tsd/json-tsd.ts';
import { rowsOf } from '../unit/plugins/database/formats/rows-of.ts';
import { countsOf } from './decoded.ts';
import { nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

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
const anyText = withLongOnes(
  fc.oneof(
    nearly(message, ['', '"', '{', '}', ']', ',', '\\', '\0', 'e', '-']),
    fc.json(),
    fc.string({ unit: 'binary' }),
  ),
  fc.constantFrom('[', '{"metric":', '{"tags":{', '"', '\\', ' ', '1', '{},', '0.', ','),
);

function contents({ rows, faults }: Decoded): unknown {
  return { rows: rows.map(({ batch, metric }) => [metric, rowsOf(batch)]), faults };
}

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
  const time = Number.isInteger(timestamp) && String(Math.abs(Number(timestamp))).length <= 19;
  const isTags =
    set === undefined ||
    set === null ||
    (typeof set === 'object' &&
      !Array.isArray(set) &&
      Object.entries(set).every(([name, tag]) => name !== 'value' && /string|number/.test(typeof tag)));
  return typeof metric === 'string' && metric !== '' && time && /string|number|boolean/.test(typeof cell) && isTags;
}

function keyCount(candidate: unknown): number {
  if (typeof candidate !== 'object' || candidate === null) return 0;
  const inside = Object.values(candidate).reduce((sum: number, inner) => sum + keyCount(inner), 0);
  return Array.isArray(candidate) ? inside : inside + Object.keys(candidate).length;
}

export const JSON_TSD: readonly ParserProperty[] = [
  parserProperty(
    'json_tsd reads messages as it reads each of them alone, in one go or in parts',
    fc.array(message, { minLength: 1, maxLength: 4 }),
    () => {
      const warm = new JsonTsdDecoder();
      return (messages) => {
        for (const text of [...messages, ...messages]) {
          warm.add(Buffer.from(text), RECORD);
          const fresh = new JsonTsdDecoder();
          fresh.add(text, RECORD);
          const alone = fresh.take();
          assert.deepEqual(contents(warm.take()), contents(alone), text);
          const parts = [...fresh.addInParts(text, RECORD, 2)].map(countsOf);
          const total = parts.reduce(([rows, faults], part) => [rows + part[0], faults + part[1]], [0, 0]);
          assert.deepEqual(total, countsOf(alone), text);
        }
      };
    },
  ),
  parserProperty(
    'json_tsd gives a row or a fault for every point, exactly where JSON.parse reads them',
    message,
    () => (text) => {
      const decoder = new JsonTsdDecoder();
      decoder.add(text, RECORD);
      const [rows, faults] = countsOf(decoder.take());
      const points = parsed(text);
      if (points === undefined) assert.deepEqual([rows, faults], [0, 1], text);
      else assert.equal(rows + faults, points.length, text);
      const good = (points ?? []).filter(isPoint).length;
      // Keys that occur twice are a fault here and the last one for JSON.parse. No string of these messages has a colon.
      const isUnique = keyCount(points) === text.split(':').length - 1;
      assert.ok(isUnique && points !== undefined ? rows === good : rows <= good, text);
    },
  ),
  parserProperty('json_tsd is whole again after any text', fc.oneof(anyText, fc.uint8Array({ maxLength: 60 })), () => {
    const warm = new JsonTsdDecoder();
    return (text) => {
      warm.add(text, RECORD);
      const counts = countsOf(warm.take());
      if (typeof text === 'string' && parsed(text) === undefined) assert.deepEqual(counts, [0, 1], text);
      warm.add('{"metric":"m","timestamp":1700000000,"value":1}', RECORD);
      assert.deepEqual(countsOf(warm.take()), [1, 0]);
    };
  }),
];
