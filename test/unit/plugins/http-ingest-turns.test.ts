import assert from 'node:assert/strict';
import { decodedFormats, decodedPointFormats } from '../../../plugins/database/index.ts';
import {
  DecodeClock,
  decodeElements,
  decodeLines,
  type BodyPart,
} from '../../../plugins/database-http/ingest/decode.ts';

const CHARACTERS = 300_000;

/** Lines or elements with this many characters, each of another table. */
function text(of: (index: number) => string): string {
  let all = '';
  for (let index = 0; all.length < CHARACTERS; index++) all += of(index);
  return all;
}

const LINES = text((index) => `m${String(index)},a=b f=1 1\n`);
const TELNET = text((index) => `m${String(index)} 1700000000 1 a=b\n`);
const POINTS = `[${text((index) => `{"metric":"m${String(index)}","timestamp":1700000000,"value":1,"tags":{}},`).slice(0, -1)}]`;

const line = (): ReturnType<typeof decodedFormats.line_lp.create> =>
  decodedFormats.line_lp.create({ precision: 'ns', now: () => 0 });
const ORIGIN = { kind: 'line', line: 1 } as const;

describe('a body that is decoded', () => {
  it('is read 65,536 characters at a time, however few rows they are (S12)', () => {
    const ROWS = 1_000_000;
    const least = Math.floor(CHARACTERS / 65_536);
    const lines = [...line().addInParts(LINES, ORIGIN, ROWS)];
    const telnet = [...decodedPointFormats.line_tsd.create({}).addInParts(TELNET, ORIGIN, ROWS)];
    const points = [...decodedPointFormats.json_tsd.create({}).addInParts(POINTS, ORIGIN, ROWS, 0)];
    assert.ok(lines.length > least && telnet.length > least);
    assert.ok(points.length > 2 * least, 'points are read twice');
    for (const parts of [lines, telnet, points]) {
      assert.ok(parts.slice(0, -1).every(({ rows }) => rows.length === 0));
    }
  });

  it('takes several turns of the event loop when it takes long (S12)', async () => {
    const own = Object.getOwnPropertyDescriptor(performance, 'now');
    let now = 0;
    // Each look at the clock is 30 ms later.
    Object.defineProperty(performance, 'now', { configurable: true, value: () => (now += 30) });
    try {
      assert.ok((await turnsOf(decodeLines(line(), chunks(LINES), new DecodeClock()))) >= 4);
      const decoder = decodedPointFormats.json_tsd.create({});
      assert.ok((await turnsOf(decodeElements(decoder, chunks(POINTS), new DecodeClock()))) >= 8);
    } finally {
      if (own === undefined) Reflect.deleteProperty(performance, 'now');
      else Object.defineProperty(performance, 'now', own);
    }
  });

  it('does not collect more tags than a point may have (S12)', () => {
    const tags = Array.from({ length: 20_000 }, (_, index) => `"t${String(index)}":"v"`).join(',');
    const decoder = decodedPointFormats.json_tsd.create({});
    decoder.add(`[{"metric":"m","timestamp":1700000000,"value":1,"tags":{${tags}}}]`, ORIGIN);
    const { rows, faults } = decoder.take();
    assert.equal(rows.length, 0);
    assert.match(faults[0]?.message ?? '', /a point has at most 128 tags, not 20000/);
  });
});

async function* chunks(body: string): AsyncGenerator<Buffer> {
  yield Buffer.from(body);
}

async function turnsOf(parts: AsyncIterable<BodyPart>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  for await (const { decoded } of parts) assert.ok(decoded.rows.length + decoded.faults.length > 0);
  isDone = true;
  return turns;
}
