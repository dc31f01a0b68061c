import assert from 'node:assert/strict';
import { murmur2, partitionOfKey } from '../../src/kafka/producer/partitioner.ts';
import { readGolden } from './golden-data.ts';

interface KeyCase {
  readonly id: string;
  /** base64 */
  readonly key: string;
  readonly murmur2: number;
  /** By the number of partitions. */
  readonly partitions: Readonly<Record<string, number>>;
}

describe('the default partitioner, against the recorded cases', () => {
  it('puts every key where Java puts it', function () {
    const cases = readGolden<readonly KeyCase[]>('connect-data/murmur2.json');
    if (cases === undefined) return this.skip();
    for (const { id, key, murmur2: hash, partitions } of cases) {
      const bytes = Buffer.from(key, 'base64');
      assert.equal(murmur2(bytes), hash, id);
      for (const [count, partition] of Object.entries(partitions)) {
        assert.equal(partitionOfKey(bytes, Number(count)), partition, `${id} of ${count}`);
      }
    }
    console.log(`      murmur2: ${String(cases.length)} of ${String(cases.length)} recorded cases hold`);
  });
});
