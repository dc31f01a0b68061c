import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Decoded } from '../../plugins/database/formats/format.ts';
import { JsonDbDecoder } from '../../plugins/database/formats/json-db/json-db.ts';
import { rowsOf } from '../unit/plugins/database/formats/rows-of.ts';
import { countsOf } from './decoded.ts';
import { nearly, parserProperty, withLongOnes, type ParserProperty } from './parser-property.ts';

const RECORD = { kind: 'record', topic: 'rows', partition: 0, offset: 0 } as const;
const HEAD =
  '{"table":"t","columns":[{"name":"ts","type":"TIMESTAMP","length":64},{"name":"n","type":"INT8","length":64}],"data":[';
const TAIL = '],"tags":[{"name":"s","type":"VARCHAR","length":8,"isPrimary":true}]}';
const GOOD = `${HEAD}{"ts":1,"n":2,"s":"a"}${TAIL}`;

const NUMBERS = ['1', '-7', '9223372036854775807', '1.5', '01'];
const value = fc.constantFrom(...NUMBERS, '"x"', '"\\u00e6"', 'null', 'true', '[1]', '', '"');
const key = fc.constantFrom('"ts"', '"n"', '"s"', '"\\u006e"', '"other"', '', '"n');
const colon = fc.constantFrom(':', ':', ' : ', '');
const row = fc
  .array(fc.tuple(key, colon, value), { maxLength: 4 })
  .map((cells) => `{${cells.map((parts) => parts.join('')).join(',')}}`);
const usual = fc.nat({ max: 99 }).map((n) => `{"ts":${String(n)},"n":${String(n)},"s":"a"}`);
const rows = fc.array(fc.oneof(usual, usual, row, fc.constantFrom('5', '', '{', ' {} ')), { maxLength: 4 });
const message = fc
  .tuple(
    fc.constantFrom(HEAD, HEAD, HEAD.replace('[', ' ['), `${HEAD} `),
    rows,
    fc.constantFrom(TAIL, TAIL, `${TAIL}\n`, ']}', TAIL.slice(0, -1)),
  )
  .map(([head, all, tail]) => head + all.join(',') + tail);
const anyText = withLongOnes(
  fc.oneof(
    nearly(message, ['', '"', '{', '}', ']', ',', '\\', '\0', 'e', '-', 'null']),
    fc.json(),
    fc.string({ unit: 'binary' }),
  ),
  fc.constantFrom('[', '{"a":', '"', '\\', ' ', '1', '{},', '"\\u0041"', ','),
);

function decode(text: string | Uint8Array): Decoded {
  const decoder = new JsonDbDecoder({ unknownKeys: 'ignore' });
  decoder.add(text, RECORD);
  return decoder.take();
}

function contents({ rows: decoded, faults }: Decoded): unknown {
  return { rows: decoded.map(({ batch, shape }) => [rowsOf(batch), shape]), faults };
}

function parsed(text: string): unknown[] | undefined {
  try {
    return (JSON.parse(text) as { data: unknown[] }).data;
  } catch {
    return undefined;
  }
}

export const JSON_DB: readonly ParserProperty[] = [
  parserProperty(
    'json_db reads messages of known tables as it reads each of them alone',
    fc.array(message, { minLength: 1, maxLength: 6 }),
    () => (messages) => {
      const warm = new JsonDbDecoder();
      for (const text of [...messages, ...messages]) {
        warm.add(Buffer.from(text), RECORD);
        const fresh = new JsonDbDecoder();
        fresh.add(text, RECORD);
        assert.deepEqual(contents(warm.take()), contents(fresh.take()), text);
      }
    },
  ),
  parserProperty('json_db gives a row or a fault for every row that JSON.parse reads', message, () => (text) => {
    const [stored, faults] = countsOf(decode(text));
    const data = parsed(text);
    if (data === undefined) assert.deepEqual([stored, faults], [0, 1], text);
    else assert.equal(stored + faults, data.length, text);
  }),
  parserProperty('json_db is whole again after any text', fc.oneof(anyText, fc.uint8Array({ maxLength: 60 })), () => {
    const warm = new JsonDbDecoder({ unknownKeys: 'ignore' });
    return (text) => {
      warm.add(text, RECORD);
      const broken = typeof text === 'string' && parsed(text) === undefined && !isJson(text);
      if (broken) assert.deepEqual(countsOf(warm.take()), [0, 1], text);
      else warm.take();
      warm.add(GOOD, RECORD);
      assert.deepEqual(countsOf(warm.take()), [1, 0]);
    };
  }),
];

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
