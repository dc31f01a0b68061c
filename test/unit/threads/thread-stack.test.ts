import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { threadStack } from '../../../src/threads/thread-stack.ts';
import { until } from '../../support/until.ts';

const PRELUDE = `
const { parentPort, workerData } = require('node:worker_threads');
const owners = new (require('node:async_hooks').AsyncLocalStorage)();
globalThis.ownerName = () => owners.getStore()?.name;
function ownedBy(name, work) { owners.run({ name }, work); }
function hang() { parentPort.postMessage('hangs'); for (;;); }
`;
/** More than a thread needs on a machine that is ten times as busy as it should be. */
const PATIENT = { timeoutMs: 60_000, ask: 'ownerName()' };

/** Code that hangs, and the first frame of its stack. */
const HANGS: readonly (readonly [name: string, frame: RegExp, code: string])[] = [
  ['a loop', /^at hang \(/, `ownedBy('A', () => hang());`],
  [
    'a regular expression that backtracks for ever',
    /^at RegExp\.test /,
    `ownedBy('A', () => { parentPort.postMessage('hangs'); /^(a+)+$/.test('a'.repeat(60) + '!'); });`,
  ],
  [
    'a continuation after an await',
    /^at hang \(/,
    `ownedBy('A', async () => { await new Promise((done) => setTimeout(done, 5)); hang(); });
     ownedBy('B', async () => { await new Promise((done) => setTimeout(done, 1)); });`,
  ],
  ['a timer', /^at hang \(/, `ownedBy('A', () => setTimeout(() => hang(), 1)); ownedBy('B', () => undefined);`],
  [
    'microtasks without end',
    /\[worker eval\]/,
    `ownedBy('A', async () => { parentPort.postMessage('hangs'); for (;;) await null; });`,
  ],
  [
    'process.nextTick without end',
    /\[worker eval\]/,
    `ownedBy('A', () => { parentPort.postMessage('hangs'); (function again() { process.nextTick(again); })(); });`,
  ],
  [
    'Atomics.wait',
    /^at Atomics\.wait /,
    `ownedBy('A', () => {
       parentPort.postMessage('hangs');
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
  ],
];

describe('the stack of a thread', () => {
  const threads: Worker[] = [];
  afterEach(async () => {
    await Promise.all(threads.splice(0).map(async (thread) => thread.terminate()));
  });

  /** Resolves when the thread has said something. */
  async function startThread(code: string, workerData?: unknown): Promise<Worker> {
    const thread = new Worker(PRELUDE + code, { eval: true, name: 'sink [worker 1]', workerData });
    threads.push(thread);
    await once(thread, 'message');
    return thread;
  }

  for (const [name, frame, code] of HANGS) {
    it(`and its owner are known while it hangs in ${name}; it can be terminated then`, async () => {
      const thread = await startThread(code);
      // The message is sent before the code hangs.
      const stack = await until(async () => {
        const found = await threadStack(thread, PATIENT);
        return frame.test(found?.frames.join('\n') ?? '') && found;
      }, 'the stack of the code that hangs');
      assert.equal(stack.answer, 'A');
      assert.equal(await thread.terminate(), 1);
    });
  }

  it('has at most 50 innermost frames, even if the code modifies stack traces', async () => {
    const thread = await startThread(`
      Error.stackTraceLimit = 1;
      Error.prepareStackTrace = () => 7;
      (function deep(depth) { if (depth === 0) hang(); deep(depth - 1); })(3000);`);
    const { frames = [] } = (await threadStack(thread, PATIENT)) ?? {};
    assert.equal(frames.length, 50);
    assert.match(frames[0] ?? '', /^at hang \(\[worker eval\]:6:\d+\)$/);
    assert.match(frames[49] ?? '', /^at deep \(\[worker eval\]:\d+:\d+\)$/);
  });

  it('does not change the thread', async () => {
    const thread = await startThread(`
      Error.prepareStackTrace = () => 7;
      parentPort.on('message', () => parentPort.postMessage([Error.stackTraceLimit, new Error().stack]));
      parentPort.postMessage('idles');`);
    await until(async () => (await threadStack(thread, PATIENT))?.frames.length === 0, 'a thread that is idle');
    thread.postMessage('continue');
    assert.deepEqual(await once(thread, 'message'), [[10, 7]]);
  });

  it('is taken of several threads that are requested concurrently', async () => {
    const hanging = await Promise.all(
      ['A', 'B', 'C'].map(async (name) => startThread(`ownedBy('${name}', () => hang());`)),
    );
    const stacks = await Promise.all(hanging.map(async (thread) => threadStack(thread, PATIENT)));
    assert.deepEqual(
      stacks.map((stack) => stack?.answer),
      ['A', 'B', 'C'],
    );
  });

  it('is returned without a result if the expression returns none, throws or does not terminate', async () => {
    const thread = await startThread('hang();');
    for (const ask of ['7', 'throw 7', '}', 'ownerName()', 'for (;;);']) {
      const stack = await threadStack(thread, { timeoutMs: ask === 'for (;;);' ? 1_000 : 60_000, ask });
      assert.match(stack?.frames[0] ?? ask, /^at hang /);
      assert.equal(stack?.answer, undefined);
    }
    assert.equal(await thread.terminate(), 1);
  });

  it('is unknown while the thread is in a native call; the thread then continues unaffected', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'thread-stack-'));
    try {
      const file = join(folder, 'end');
      const thread = await startThread(
        `parentPort.postMessage('hangs');
         require('node:child_process').execFileSync('sh', ['-c', 'until [ -e "$0" ]; do sleep 0.05; done', workerData]);
         parentPort.on('message', (message) => parentPort.postMessage(message));
         parentPort.postMessage('ended');`,
        file,
      );
      // Loading node:child_process is JavaScript.
      await until(async () => (await threadStack(thread, { timeoutMs: 100 })) === undefined, 'the native call');
      const ended = once(thread, 'message');
      await writeFile(file, '');
      assert.deepEqual(await ended, ['ended']);
      thread.postMessage('still here');
      assert.deepEqual(await once(thread, 'message'), ['still here']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is unknown once the thread has ended, also if it ends during the request', async () => {
    const thread = await startThread(
      `parentPort.postMessage('hangs'); require('node:child_process').execFileSync('sleep', ['0.5']);`,
    );
    await until(async () => (await threadStack(thread, { timeoutMs: 100 })) === undefined, 'the native call');
    const asked = threadStack(thread, { timeoutMs: 10 * 60_000 });
    await thread.terminate();
    assert.equal((await asked)?.answer, undefined);
    assert.equal(await threadStack(thread, PATIENT), undefined);
  });

  it('does not block messages that the thread sent before it hung', async () => {
    const thread = await startThread(`for (let i = 0; i < 1000; i++) parentPort.postMessage(i); hang();`);
    const messages: unknown[] = [];
    thread.on('message', (message) => messages.push(message));
    // It may still be sending when it is asked first.
    const isHanging = async () => ((await threadStack(thread, PATIENT))?.frames[0] ?? '').startsWith('at hang ');
    await until(isHanging, 'the thread hangs');
    assert.ok(await isHanging());
    await thread.terminate();
    assert.equal(messages.at(-1), 'hangs');
  });
});
