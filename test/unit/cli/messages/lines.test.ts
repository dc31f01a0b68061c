import assert from 'node:assert/strict';
import { arrivingLines } from '../../../../src/cli/messages/lines.ts';

async function* chunks(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

async function linesOf(...texts: string[]): Promise<string[][]> {
  const groups: string[][] = [];
  for await (const lines of arrivingLines(chunks(...texts))) groups.push(lines.map(String));
  return groups;
}

describe('the lines that are produced', () => {
  it('are given as they arrive, whole, without line ends and without empty ones', async () => {
    assert.deepEqual(await linesOf('a\nb\nhal', 'f\r\n\n\r\n', 'last'), [['a', 'b'], ['half'], ['last']]);
    assert.deepEqual(await linesOf('', 'ø'), [['ø']]);
    assert.deepEqual(await linesOf(), []);
  });

  it('end at one that is longer than a message may be, which is named, after those before it', async () => {
    const given: string[] = [];
    const long = 'x'.repeat(600_000);
    const read = async () => {
      for await (const lines of arrivingLines(chunks('one\n\ntwo\n', long, long))) given.push(...lines.map(String));
    };
    await assert.rejects(read, { message: 'Line 4 has more than 1 MB, the most that a message may have' });
    assert.deepEqual(given, ['one', 'two']);
    assert.equal((await linesOf(`${'x'.repeat(1_000_000)}\n`))[0]?.[0]?.length, 1_000_000);
  });
});
