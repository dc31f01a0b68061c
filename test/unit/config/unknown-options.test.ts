import assert from 'node:assert/strict';
import { unknownOptions } from '../../../src/config/unknown-options.ts';

const KNOWN = [
  'name',
  'connector.class',
  'topics',
  'topics.regex',
  'batch.size',
  'value.converter',
  'value.converter.schemas.enable',
  'transforms',
  'transforms.a.type',
  'transforms.a.regex',
  'consumer.override.max.poll.records',
];

describe('unknown options of a connector', () => {
  it('are reported with the option that was probably meant', () => {
    assert.deepEqual(unknownOptions(['name', 'batch.sizes', 'topcis', 'conector.class'], KNOWN), [
      { key: 'batch.sizes', nearest: 'batch.size' },
      { key: 'topcis', nearest: 'topics' },
      { key: 'conector.class', nearest: 'connector.class' },
    ]);
  });

  it('are ignored if no name is similar: they belong to the connector', () => {
    assert.deepEqual(unknownOptions(['mapping.orders', 'x', ...KNOWN], KNOWN), []);
  });

  it('are ignored if they belong to a transform, a predicate, a converter, a client or a topic group', () => {
    const keys = [
      'transforms.b.regex',
      'predicates.p.type',
      'key.converter.schemas.enable',
      'value.converter.schema.enable',
      'header.converter.schemas.enable',
      'consumer.override.max.poll.record',
      'producer.override.max.poll.records',
      'admin.override.retries',
      'topic.creation.mine.partitions',
    ];
    assert.deepEqual(unknownOptions(keys, KNOWN), []);
  });

  it('are searched among a limited number of keys', () => {
    const keys = Array.from({ length: 100_000 }, () => 'batch.sizes');
    assert.equal(unknownOptions(keys, KNOWN).length, 200);
  });
});
