import assert from 'node:assert/strict';
import { javaHashMapOrder, javaStringHash } from '../../src/java/java-hash-order.ts';
import { readGolden } from './golden-data.ts';

interface OrderCase {
  readonly id: string;
  readonly constructor: 'default' | 'copy';
  readonly input: readonly string[];
  readonly output: readonly string[];
  readonly hashCodes: Readonly<Record<string, number>>;
}

describe('the order of keys in a Java HashMap, against the recorded cases', () => {
  it('is the one that offset keys have in the topic', function () {
    const cases = readGolden<OrderCase[]>('connect-data/hashmap-order.json');
    if (cases === undefined) return this.skip();
    let held = 0;
    for (const { id, constructor, input, output, hashCodes } of cases) {
      for (const [key, hash] of Object.entries(hashCodes)) assert.equal(javaStringHash(key), hash, `${id} ${key}`);
      assert.deepEqual(javaHashMapOrder(input, constructor), output, id);
      held++;
    }
    console.log(`      hashmap-order: ${String(held)} of ${String(cases.length)} recorded cases hold`);
  });
});
