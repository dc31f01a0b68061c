import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GroupTimes } from '../../../../src/operate/dead-letters/group-times.ts';

describe('the times of dead letters', () => {
  it('are counted in buckets of a second while these suffice, all groups on one axis', () => {
    const times = new GroupTimes();
    for (const at of [10_500, 10_900, 12_000]) times.add('a', at);
    times.add('b', 8_000);
    times.add('none', -1);
    assert.deepEqual(times.histogram('a'), { from: 8_000, bucketMs: 1000, counts: [0, 0, 2, 0, 1] });
    assert.deepEqual(times.histogram('b'), { from: 8_000, bucketMs: 1000, counts: [1, 0, 0, 0, 0] });
    assert.equal(times.histogram('none'), undefined);
  });

  it('are counted in longer buckets when they do not fit', () => {
    const times = new GroupTimes();
    times.add('a', 3_600_000);
    times.add('a', 0);
    times.add('b', 3_599_000);
    const { from, bucketMs, counts } = times.histogram('a') ?? { from: -1, bucketMs: -1, counts: [] };
    assert.deepEqual([from, bucketMs, counts.length], [0, 64_000, 57]);
    assert.deepEqual([counts[0], counts[56], times.histogram('b')?.counts[56]], [1, 1, 1]);
  });

  it('fill at most 60 buckets, whatever the order, and none is lost', () => {
    const letter = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.nat(100_000), fc.maxSafeNat()));
    fc.assert(
      fc.property(fc.array(letter, { minLength: 1, maxLength: 200 }), (letters) => {
        const times = new GroupTimes();
        for (const [group, at] of letters) times.add(group, at);
        for (const group of ['a', 'b', 'c']) {
          const own = letters.flatMap(([of, at]) => (of === group ? [at] : []));
          const histogram = times.histogram(group);
          if (histogram === undefined) {
            assert.deepEqual(own, []);
            continue;
          }
          const { from, bucketMs, counts } = histogram;
          assert.ok(counts.length <= 60);
          const expected = counts.map(
            (_, index) => own.filter((at) => Math.floor((at - from) / bucketMs) === index).length,
          );
          assert.deepEqual(counts, expected);
          assert.equal(
            counts.reduce((sum, count) => sum + count, 0),
            own.length,
          );
        }
      }),
      { numRuns: 100 },
    );
  });
});
