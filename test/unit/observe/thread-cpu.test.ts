import assert from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import { threadCpu } from '../../../src/observe/thread-cpu.ts';

const COMPUTES = `
  const { parentPort } = require('node:worker_threads');
  for (const end = performance.now() + 300; performance.now() < end; );
  parentPort.postMessage('done');
`;

describe('the CPU time of a thread', () => {
  it('grows by what the thread computes', () => {
    const begin = threadCpu.ms();
    const limit = performance.now() + 60_000;
    while (threadCpu.ms() < begin + 100 && performance.now() < limit);
    assert.ok(threadCpu.ms() >= begin + 100);
  });

  it('has nothing of what other threads compute, on Linux', async function () {
    if (process.platform !== 'linux') this.skip();
    assert.equal(threadCpu.of, 'thread');
    const usage = process.cpuUsage();
    const begin = threadCpu.ms();
    await new Promise((resolve) => new Worker(COMPUTES, { eval: true }).once('exit', resolve));
    const { user, system } = process.cpuUsage(usage);
    const [own, all] = [threadCpu.ms() - begin, (user + system) / 1000];
    assert.ok(own < all - 20, `${String(own)} of ${String(all)} ms`);
  });
});
