import assert from 'node:assert/strict';
import { Meter, SampledStat, SuccessRatio } from '../../../../src/observe/metrics/sampled-stats.ts';

const WINDOW = { sampleMs: 30_000, samples: 2 };

describe('Statistics within a window, as org.apache.kafka.common.metrics.stats computes them', () => {
  it('nothing recorded: NaN, and a rate of 0', () => {
    const stat = new SampledStat(WINDOW);
    assert.deepEqual([stat.average(0), stat.max(0), stat.min(0), stat.rate(0)], [NaN, NaN, NaN, 0]);
  });

  it('average, maximum and minimum of recent values; older samples are dropped as a whole', () => {
    const stat = new SampledStat(WINDOW);
    stat.record(100, 0);
    stat.record(2, 29_000);
    assert.deepEqual([stat.average(29_000), stat.max(29_000), stat.min(29_000)], [51, 100, 2]);
    stat.record(4, 31_000);
    assert.deepEqual([stat.average(31_000), stat.max(31_000)], [106 / 3, 100]);
    // The first sample ended with its event at 29,000.
    assert.equal(stat.max(88_999), 100);
    assert.deepEqual([stat.average(89_000), stat.max(89_000), stat.min(89_000)], [4, 4, 4]);
    assert.equal(stat.average(91_000), NaN);
  });

  it('a rate is divided by the full window except for the current sample', () => {
    const meter = new Meter(WINDOW);
    meter.record(300, 0);
    // 300 within 0 s of the first sample, and the 30 s of the other.
    assert.equal(meter.rate(0), 10);
    assert.equal(meter.rate(10_000), 300 / 40);
    meter.record(300, 40_000);
    assert.equal(meter.rate(40_000), 600 / 40);
    assert.equal(meter.rate(59_000), 600 / 59);
    assert.equal(
      meter.rate(60_000),
      300 / 50,
      'the first sample has gone; this one counts 20 s, and 30 s for the other',
    );
    assert.equal(meter.total, 600);
  });

  it('parts of attempts that succeeded and failed, 0 without attempts', () => {
    const ratio = new SuccessRatio(WINDOW);
    assert.deepEqual([ratio.success(0), ratio.failure(0)], [0, 0]);
    ratio.record(true, 0);
    ratio.record(true, 1);
    ratio.record(false, 2);
    ratio.record(true, 3);
    assert.deepEqual([ratio.success(4), ratio.failure(4)], [0.75, 0.25]);
    assert.deepEqual([ratio.success(70_000), ratio.failure(70_000)], [0, 0]);
  });
});
