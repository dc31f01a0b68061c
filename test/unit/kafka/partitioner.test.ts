import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { murmur2, partitionOfKey } from '../../../src/kafka/producer/partitioner.ts';

interface GoldenCase {
  readonly id: string;
  readonly key: string;
  readonly murmur2: number;
  readonly partitions: Readonly<Record<string, number>>;
}

const file = join(process.env['GOLDEN_DIR'] ?? '../shared/golden', 'connect-data', 'murmur2.json');

describe('the default partitioner', () => {
  it('puts every key where Java puts it', function () {
    if (!existsSync(file)) {
      console.log(`      skipped: ${file} is absent`);
      this.skip();
    }
    const cases = JSON.parse(readFileSync(file, 'utf8')) as readonly GoldenCase[];
    for (const { id, key, murmur2: hash, partitions } of cases) {
      const bytes = Buffer.from(key, 'base64');
      assert.equal(murmur2(bytes), hash, id);
      for (const [count, partition] of Object.entries(partitions)) {
        assert.equal(partitionOfKey(bytes, Number(count)), partition, `${id} of ${count}`);
      }
    }
    console.log(`      ${String(cases.length)} of ${String(cases.length)} murmur2 cases hold`);
  });

  it('hashes as Kafka’s own documentation test does', () => {
    assert.equal(murmur2(Buffer.from('21')), -973_932_308);
    assert.equal(murmur2(Buffer.from('foobar')), -790_332_482);
    assert.equal(murmur2(Buffer.from('a-little-bit-long-string')), -985_981_536);
    assert.equal(murmur2(Buffer.from('')), 275_646_681);
  });
});
