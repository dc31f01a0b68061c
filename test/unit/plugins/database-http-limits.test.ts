import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseOptions } from '../../../src/index.ts';
import { decodedPointFormats, decodedFormats } from '../../../plugins/database/index.ts';
import {
  DecodeClock,
  decodeElements,
  decodeLines,
  type BodyPart,
} from '../../../plugins/database-http/ingest/decode.ts';
import { serviceOptions } from '../../../plugins/database-http/options.ts';

describe('the database HTTP API without further options', () => {
  it('has the documented port, limits and database', () => {
    const settings = parseOptions(serviceOptions, { 'connection.url': 'postgresql://127.0.0.1:5432' });
    assert.deepEqual(
      [
        settings.listeners,
        settings['max.connections'],
        settings['token.connections'],
        settings['query.max.bytes'],
        Number(settings['max.body.bytes']),
        settings['default.database'],
        settings.tls,
        settings['trust.authentication'],
      ],
      [['https://:8080'], 150, 100, 5 * 1024 * 1024, 64 * 1024 * 1024, 'defaultdb', 'on', 'refuse'],
    );
  });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory that is still in use after a garbage collection. */
function liveMb(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

describe('a body of 32 MB', () => {
  const CHUNK_BYTES = 65_536;

  /** As the network gives it: chunks of their own memory, cut anywhere. */
  async function* body(row: (id: number) => string, start: string, end: string): AsyncGenerator<Buffer> {
    let text = start;
    for (let id = 0, sent = 0; sent < 32 << 20; id++) {
      text += row(id);
      if (text.length < CHUNK_BYTES) continue;
      yield Buffer.from(text);
      sent += text.length;
      text = '';
      await turn();
    }
    yield Buffer.from(text + end);
  }

  async function growth(parts: AsyncIterable<BodyPart>): Promise<{ rows: number; growthMb: number }> {
    const before = liveMb();
    let rows = 0;
    let growthMb = 0;
    let count = 0;
    for await (const { decoded } of parts) {
      for (const { batch } of decoded.rows) rows += batch.rowCount;
      assert.deepEqual(decoded.faults, []);
      if (++count % 15 === 0) growthMb = Math.max(growthMb, liveMb() - before);
    }
    assert.ok(count >= 15);
    return { rows, growthMb };
  }

  it('of JSON points is never in memory as a whole', async function () {
    this.timeout(300_000);
    const point = (id: number): string =>
      `${id === 0 ? '' : ','}{"metric":"m","timestamp":${String(1_700_000_000_000 + id)},"value":${String(id)},"tags":{"host":"web ${String(id % 100)}","place":"${'x'.repeat(150)}"}}`;
    const decoder = decodedPointFormats.json_tsd.create({});
    const { rows, growthMb } = await growth(decodeElements(decoder, body(point, '[', ']'), new DecodeClock()));
    assert.ok(rows > 125_000);
    assert.ok(growthMb < 16, `${String(Math.round(growthMb))} MB`);
  });

  it('of lines is never in memory as a whole', async function () {
    this.timeout(300_000);
    const line = (id: number): string =>
      `m,host=web${String(id % 100)} v=${String(id)}i,s="${'x'.repeat(150)}" ${String(id)}\n`;
    const decoder = decodedFormats.line_lp.create({ precision: 'ns', now: () => 0 });
    const { rows, growthMb } = await growth(decodeLines(decoder, body(line, '', ''), new DecodeClock()));
    assert.ok(rows > 125_000);
    assert.ok(growthMb < 16, `${String(Math.round(growthMb))} MB`);
  });
});
