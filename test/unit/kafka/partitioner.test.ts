import assert from 'node:assert/strict';
import { murmur2 } from '../../../src/kafka/producer/partitioner.ts';

describe('the default partitioner', () => {
  it('hashes like Kafka’s own tests', () => {
    assert.equal(murmur2(Buffer.from('21')), -973_932_308);
    assert.equal(murmur2(Buffer.from('foobar')), -790_332_482);
    assert.equal(murmur2(Buffer.from('a-little-bit-long-string')), -985_981_536);
    assert.equal(murmur2(Buffer.from('')), 275_646_681);
  });
});
