import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Decoded } from '../../../src/formats/format.ts';
import { JsonDbDecoder } from '../../../src/formats/json-db.ts';
import { rowsOf } from './rows-of.ts';

const RECORD = { kind: 'record', topic: 'rows', partition: 0, offset: 0 } as const;
const HEAD =
  '{"table":"t","columns":[{"name":"ts","type":"TIMESTAMP","length":64},{"name":"n","type":"INT8","length":64}],"data":[';
const TAIL = '],"tags":[{"name":"s","type":"VARCHAR","length":8,"isPrimary":true}]}';

const value = fc.constantFrom(
  '1',
  '-7',
  '9223372036854775807',
  '1.5',
  '"x"',
  '"\\u00e6"',
  'null',
  'true',
  '[1]',
  '',
  '"',
  '01',
);
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

function contents({ rows: decoded, faults }: Decoded): unknown {
  return { rows: decoded.map(({ batch, shape }) => [rowsOf(batch), shape]), faults };
}

describe('json_db messages of known tables', () => {
  it('are read as each of them is read alone', () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), (messages) => {
        const warm = new JsonDbDecoder();
        for (const text of [...messages, ...messages]) {
          warm.add(Buffer.from(text), RECORD);
          const fresh = new JsonDbDecoder();
          fresh.add(text, RECORD);
          assert.deepEqual(contents(warm.take()), contents(fresh.take()), text);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('leave rows exactly where JSON.parse and the description agree', () => {
    fc.assert(
      fc.property(message, (text) => {
        const decoder = new JsonDbDecoder({ unknownKeys: 'ignore' });
        decoder.add(text, RECORD);
        const { rows: decoded, faults } = decoder.take();
        const count = decoded.reduce((sum, { batch }) => sum + batch.rowCount, 0);
        const data = parsed(text);
        if (data === undefined) assert.deepEqual([count, faults.length], [0, 1], text);
        else assert.equal(count + faults.length, data.length, text);
      }),
      { numRuns: 1_000 },
    );
  });
});

function parsed(text: string): unknown[] | undefined {
  try {
    return (JSON.parse(text) as { data: unknown[] }).data;
  } catch {
    return undefined;
  }
}
