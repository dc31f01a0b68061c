import assert from 'node:assert/strict';
import { validateOptions } from '../../../src/config/parse.ts';
import {
  isSameButLimits,
  limitsCanChange,
  rateLimitOf,
  rateLimitOptions,
  withLimitsOf,
} from '../../../src/config/rate-limit-options.ts';

describe('rate limits', () => {
  it('are divided among the tasks', () => {
    const config = { 'rate.limit.records': '300', 'rate.limit.bytes': '-1' };
    assert.deepEqual(rateLimitOf(config, 3), { records: 100, bytes: undefined });
    assert.deepEqual(rateLimitOf({}, 3), { records: undefined, bytes: undefined });
  });

  it('are at least 1, or -1', () => {
    const isValid = (value: string) =>
      validateOptions(rateLimitOptions, { 'rate.limit.bytes': value }).every(({ errors }) => errors.length === 0);
    assert.deepEqual(['-1', '1', '0', '-2', 'many'].map(isValid), [true, true, false, false, false]);
  });

  it('may change without a restart if they are valid and have no variables', () => {
    const config = { topics: 'a', 'rate.limit.records': '300' };
    assert.ok(isSameButLimits(config, { topics: 'a' }));
    assert.ok(!isSameButLimits(config, { topics: 'b', 'rate.limit.records': '300' }));
    for (const value of ['${file:/x:y}', 'fast', '0']) {
      const other = { topics: 'a', 'rate.limit.records': value };
      assert.ok(!limitsCanChange(other));
      assert.ok(!isSameButLimits(config, other));
      assert.equal(withLimitsOf(config, other), config);
    }
  });

  it('are taken from the later configuration', () => {
    const later = { topics: 'b', 'rate.limit.bytes': '5' };
    assert.deepEqual(withLimitsOf({ topics: 'a', 'rate.limit.records': '300' }, later), {
      topics: 'a',
      'rate.limit.bytes': '5',
    });
  });
});
