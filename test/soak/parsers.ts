import { Worker } from 'node:worker_threads';
import { PARSER_FORMATS, PARSER_PROPERTIES } from '../properties/parsers.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_INPUTS = 1_000_000;
/**
 * A parser that reports nothing for this time is considered to hang, because the largest input takes a fraction of a
 * second.
 */
const HANG_MS = 60_000;

/** Input of the thread: the promises of one format. */
export interface ParserTask {
  readonly format: string;
  /** Number of inputs for each promise. */
  readonly inputs: number;
  /** If set, replaces the number of inputs: the promises are tried in turn for this number of minutes. */
  readonly minutes: number | undefined;
  readonly seed: number;
  /** Number of inputs that were checked, and index of the promise that is being tried. */
  readonly progress: Int32Array;
}

/** Result of the thread for each promise. */
export interface ParserOutcome {
  readonly title: string;
  readonly failure: string | undefined;
  readonly inputs: number;
  readonly slowestMs: number;
  readonly tookMs: number;
}

/**
 * Runs texts of every kind through every parser, one format at a time, in a thread that can be terminated when it
 * hangs.
 */
export const parsers: Repeat = {
  unit: 'inputs in all',
  defaultCount: DEFAULT_INPUTS,
  async run({ count = DEFAULT_INPUTS, seed = Date.now() | 0, minutes, only, print }: RepeatOptions): Promise<boolean> {
    const formats = only ?? [...PARSER_FORMATS.keys()];
    const unknown = formats.filter((format) => !PARSER_FORMATS.has(format));
    if (unknown.length > 0)
      throw new Error(`Unknown ${unknown.join()}; there are ${[...PARSER_FORMATS.keys()].join()}`);
    const inputs = Math.ceil(count / PARSER_PROPERTIES.length);
    const share = minutes === undefined ? `${String(inputs)} inputs each promise` : `${String(minutes)} minutes each`;
    print(`${String(formats.length)} formats, ${share}, seed ${String(seed)}`);
    const began = performance.now();
    let failures = 0;
    let total = 0;
    for (const format of formats) {
      const progress = new Int32Array(new SharedArrayBuffer(8));
      const start = performance.now();
      const outcomes = await inThread({ format, inputs, minutes, seed, progress });
      const done = Atomics.load(progress, 0);
      const seconds = ((performance.now() - start) / 1000).toFixed(0);
      const broken = outcomes.filter(({ failure }) => failure !== undefined);
      print(`${broken.length === 0 ? 'ok  ' : 'FAIL'} ${format}: ${String(done)} inputs in ${seconds} s`);
      for (const outcome of outcomes) print(`     ${figures(outcome)}  ${outcome.title}`);
      for (const { title, failure } of broken) print(`FAIL ${title}: ${failure ?? ''}`);
      failures += broken.length;
      total += done;
    }
    const seconds = (performance.now() - began) / 1000;
    print(`${String(total)} inputs in ${seconds.toFixed(0)} s, ${String(Math.round(total / seconds))} inputs/s`);
    return failures === 0;
  },
};

function figures({ inputs, tookMs, slowestMs }: ParserOutcome): string {
  const rate = Math.round((inputs / Math.max(tookMs, 1)) * 1000);
  return `${String(inputs).padStart(9)} inputs ${String(rate).padStart(7)}/s, slowest ${slowestMs.toFixed(0).padStart(4)} ms`;
}

/** Threads do not inherit the TypeScript loader. */
const START = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(${JSON.stringify(new URL('./parser-thread.ts', import.meta.url).href)});
})`;

async function inThread(task: ParserTask): Promise<readonly ParserOutcome[]> {
  const worker = new Worker(START, { eval: true, workerData: task });
  const watch = watchProgress(task);
  try {
    return await Promise.race([
      watch.hang,
      new Promise<readonly ParserOutcome[]>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
    ]);
  } catch (error) {
    return [failed(task, String(error))];
  } finally {
    watch.stop();
    await worker.terminate();
  }
}

function watchProgress(task: ParserTask): {
  readonly hang: Promise<readonly ParserOutcome[]>;
  readonly stop: () => void;
} {
  let seen = -1;
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<readonly ParserOutcome[]>((resolve) => {
    timer = setInterval(() => {
      const now = Atomics.load(task.progress, 0);
      if (now === seen) resolve([failed(task, `no end of input ${String(now + 1)}`)]);
      seen = now;
    }, HANG_MS);
  });
  return { hang, stop: () => clearInterval(timer) };
}

/** Called if the thread ended or hangs; its results for the other promises are lost. */
function failed({ format, progress }: ParserTask, failure: string): ParserOutcome {
  const title = PARSER_FORMATS.get(format)?.[Atomics.load(progress, 1)]?.title ?? format;
  return { title, failure, inputs: Atomics.load(progress, 0), slowestMs: HANG_MS, tookMs: HANG_MS };
}
