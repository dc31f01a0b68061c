import assert from 'node:assert/strict';
import { freeMemory, SharedBytes } from '../../../src/kafka/records/shared-bytes.ts';

const LARGE = 100_000;

describe('memory with several holders', () => {
  it('is freed when the last one has released it, and no earlier', () => {
    const bytes = Buffer.allocUnsafeSlow(LARGE);
    const memory = new SharedBytes(bytes.subarray(4));
    memory.hold();
    memory.hold();
    memory.release();
    memory.release();
    assert.equal(bytes.length, LARGE);
    memory.release();
    assert.equal(bytes.buffer.byteLength, 0);
    assert.throws(() => {
      memory.hold();
    }, /cannot be held again/);
    assert.throws(() => {
      memory.release();
    }, /more often/);
  });

  it('stays when a view was given away', () => {
    const bytes = Buffer.alloc(LARGE, 'x');
    const memory = new SharedBytes(bytes);
    memory.keep();
    memory.release();
    assert.equal(bytes.toString('latin1', LARGE - 2), 'xx');
  });

  it('stays where the view is of a part of it, which others may use', () => {
    const bytes = Buffer.alloc(LARGE, 'x');
    new SharedBytes(bytes.subarray(9)).release();
    new SharedBytes(bytes.subarray(0, LARGE - 9)).release();
    assert.equal(bytes.length, LARGE);
  });

  it('stays where it is small, shared between threads, or must not be transferred', () => {
    const small = Buffer.alloc(1000);
    new SharedBytes(small).release();
    assert.equal(small.length, 1000);
    const shared = new SharedArrayBuffer(LARGE);
    freeMemory(shared);
    assert.equal(shared.byteLength, LARGE);
    const pooled = Buffer.from('in the pool');
    freeMemory(pooled.buffer);
    assert.equal(pooled.toString(), 'in the pool');
  });
});
