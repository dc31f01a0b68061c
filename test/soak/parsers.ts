import { Worker } from 'node:worker_threads';
import { PARSER_PROPERTIES } from '../properties/parsers.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_INPUTS = 1_000_000;
/** A parser that says nothing for so long hangs: the largest input takes a fraction of a second. */
const HANG_MS = 60_000;

/** What the thread is given: one property by its place in the list. */
export interface ParserTask {
  readonly index: number;
  readonly inputs: number;
  readonly seed: number;
  /** Counted up with every input. */
  readonly progress: Int32Array;
}

/** What it gives back. */
export interface ParserOutcome {
  readonly failure: string | undefined;
  readonly slowestMs: number;
  /** Without the start of the thread. */
  readonly tookMs: number;
}

/** Texts of every kind for every parser; one property at a time, in a thread that can be ended when it hangs. */
export const parsers: Repeat = {
  unit: 'inputs in all',
  defaultCount: DEFAULT_INPUTS,
  async run({ count = DEFAULT_INPUTS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    const inputs = Math.ceil(count / PARSER_PROPERTIES.length);
    print(`${String(PARSER_PROPERTIES.length)} promises, ${String(inputs)} inputs each, seed ${String(seed)}`);
    const began = performance.now();
    let failures = 0;
    for (const [index, { title }] of PARSER_PROPERTIES.entries()) {
      const progress = new Int32Array(new SharedArrayBuffer(4));
      const { failure, slowestMs, tookMs } = await inThread({ index, inputs, seed, progress });
      const done = Atomics.load(progress, 0);
      const rate = Math.round((done / tookMs) * 1000);
      print(`${failure === undefined ? 'ok  ' : 'FAIL'} ${figures(done, rate, slowestMs)}  ${title}`);
      if (failure === undefined) continue;
      failures += 1;
      print(failure);
    }
    const seconds = (performance.now() - began) / 1000;
    const total = inputs * PARSER_PROPERTIES.length;
    print(`${String(total)} inputs in ${seconds.toFixed(0)} s, ${String(Math.round(total / seconds))} inputs/s`);
    return failures === 0;
  },
};

function figures(done: number, rate: number, slowestMs: number): string {
  return `${String(done).padStart(9)} inputs ${String(rate).padStart(7)}/s, slowest ${slowestMs.toFixed(0).padStart(4)} ms`;
}

/** Threads do not inherit the loader of TypeScript. */
const START = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(${JSON.stringify(new URL('./parser-thread.ts', import.meta.url).href)});
})`;

async function inThread(task: ParserTask): Promise<ParserOutcome> {
  const worker = new Worker(START, { eval: true, workerData: task });
  const watch = watchProgress(task.progress);
  try {
    return await Promise.race([
      watch.hang,
      new Promise<ParserOutcome>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
    ]);
  } catch (error) {
    return { failure: String(error), slowestMs: 0, tookMs: 1 };
  } finally {
    watch.stop();
    await worker.terminate();
  }
}

function watchProgress(progress: Int32Array): { readonly hang: Promise<ParserOutcome>; readonly stop: () => void } {
  const began = performance.now();
  let seen = -1;
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<ParserOutcome>((resolve) => {
    timer = setInterval(() => {
      const now = Atomics.load(progress, 0);
      if (now === seen)
        resolve({
          failure: `hangs at input ${String(now + 1)}`,
          slowestMs: HANG_MS,
          tookMs: performance.now() - began,
        });
      seen = now;
    }, HANG_MS);
  });
  return { hang, stop: () => clearInterval(timer) };
}
