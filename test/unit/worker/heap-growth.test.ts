import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { boundHeapGrowth } from '../../../src/worker/heap-growth.ts';

describe('the growth of heaps', () => {
  function flagsSet(nodeFlags: readonly string[]): readonly string[] {
    const set: string[] = [];
    boundHeapGrowth(nodeFlags, (flag) => set.push(flag));
    return set;
  }

  it('is bounded by a flag that this Node knows', () => {
    assert.deepEqual(flagsSet(['--enable-source-maps']), ['--heap-growing-percent=100']);
    assert.match(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' }), /--heap-growing-percent /);
  });

  it('is not changed if it is set on the command line of node', () => {
    assert.deepEqual(flagsSet(['--heap-growing-percent=300']), []);
    assert.deepEqual(flagsSet(['--heap_growing_percent', '50']), []);
  });
});
