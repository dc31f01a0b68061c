import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { javaHashMapOrder, javaStringHash } from '../../src/data/java-hash-order.ts';

const FOLDER = process.env['GOLDEN_DIR'] ?? '../shared/golden';

interface OrderCase {
  readonly id: string;
  readonly constructor: 'default' | 'copy';
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly hashCodes: Readonly<Record<string, number>>;
}

describe('the order of keys in a Java HashMap, against the recorded cases', () => {
  it('is the one that offset keys have in the topic', async function () {
    const text = await readFile(`${FOLDER}/connect-data/hashmap-order.json`, 'utf8').catch(() => undefined);
    if (text === undefined) {
      console.log(`      skipped: no recorded cases at ${FOLDER}`);
      return this.skip();
    }
    const cases = JSON.parse(text) as OrderCase[];
    let held = 0;
    for (const { id, constructor, input, output, hashCodes } of cases) {
      for (const [key, hash] of Object.entries(hashCodes)) assert.equal(javaStringHash(key), hash, `${id} ${key}`);
      assert.deepEqual(javaHashMapOrder(input, constructor), output, id);
      held++;
    }
    console.log(`      hashmap-order: ${String(held)} of ${String(cases.length)} recorded cases hold`);
  });
});
