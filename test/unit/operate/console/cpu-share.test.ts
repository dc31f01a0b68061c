import assert from 'node:assert/strict';
import { CpuShare } from '../../../../src/operate/console/cpu-share.ts';

describe('the share of the CPU', () => {
  let now = { atMs: 0, cpuMs: 0 };
  let share: CpuShare;

  beforeEach(() => {
    now = { atMs: 0, cpuMs: 0 };
    share = new CpuShare(() => now);
  });

  it('is what was used since it was asked the last time', () => {
    assert.equal(share.cores(), null);
    now = { atMs: 5000, cpuMs: 7500 };
    assert.equal(share.cores(), 1.5);
    now = { atMs: 10_000, cpuMs: 8500 };
    assert.equal(share.cores(), 0.2);
  });

  it('is the same for all that ask within a second', () => {
    now = { atMs: 5000, cpuMs: 5000 };
    assert.equal(share.cores(), 1);
    now = { atMs: 5500, cpuMs: 5000 };
    assert.equal(share.cores(), 1);
  });

  it('is not known when nobody has asked for a minute', () => {
    now = { atMs: 61_000, cpuMs: 61_000 };
    assert.equal(share.cores(), null);
  });
});
