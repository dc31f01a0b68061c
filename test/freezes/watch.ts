import { Worker } from 'node:worker_threads';
import type { CASE_LISTS } from './cases.ts';

/** Input of a thread: the cases of a list, beginning with `from`. */
export interface FreezeTask {
  readonly list: keyof typeof CASE_LISTS;
  readonly from: number;
  /** The case that runs, and how many have been judged. */
  readonly progress: Int32Array;
}

/** A case that took longer than the floor. */
export interface Finding {
  readonly where: string;
  readonly tookMs: number;
  /** Absent: it is slow, but its time grows with the length alone. */
  readonly problem: string | undefined;
}

/** The text that a scanner took longest for. */
export interface Longest {
  readonly scanner: string;
  /** How many texts it read. */
  readonly texts: number;
  readonly text: string;
  readonly length: number;
  readonly tookMs: number;
  /** How many times as long nine times the length takes; `undefined` where it is below the floor. */
  readonly growth: number | undefined;
}

export interface Judged {
  readonly cases: number;
  /** The longest time of each scanner that read its texts to the end, slowest first. */
  readonly longest: readonly Longest[];
  /** Slowest first. */
  readonly findings: readonly Finding[];
}

/** A case that takes this long hangs: all others are judged in a fraction of the time. */
const HANG_MS = 30_000;
/** Threads do not inherit the loader of TypeScript. */
const START = `import('tsx/esm/api').then(({ register }) => {
  register();
  return import(${JSON.stringify(new URL('./thread.ts', import.meta.url).href)});
})`;

/**
 * Judges the cases of a list in a thread, which is ended when one of them hangs, so that a freeze is a finding and no freeze;
 * the following cases are judged in another thread.
 */
export async function judgeAll(list: FreezeTask['list']): Promise<Judged> {
  const progress = new Int32Array(new SharedArrayBuffer(8));
  const findings: Finding[] = [];
  let longest: readonly Longest[] = [];
  for (let from = 0; ;) {
    const hung = await inThread({ list, from, progress }, (finding) => findings.push(finding));
    if (typeof hung !== 'number') {
      longest = hung.toSorted((a, b) => b.tookMs - a.tookMs);
      break;
    }
    const { scanner, text, length } = (await import('./cases.ts')).CASE_LISTS[list]().at(hung);
    const problem = `no end within ${String(HANG_MS / 1000)} s for ${String(length)} characters`;
    findings.push({ where: `${scanner.name}: ${text.name}`, tookMs: HANG_MS, problem });
    from = hung + 1;
  }
  findings.sort((a, b) => b.tookMs - a.tookMs);
  return { cases: Atomics.load(progress, 1), longest, findings };
}

/** The case that hangs; when all were judged, what took each scanner longest. */
async function inThread(task: FreezeTask, onFinding: (finding: Finding) => void): Promise<number | readonly Longest[]> {
  const worker = new Worker(START, { eval: true, workerData: task });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<number | readonly Longest[]>((resolve, reject) => {
      let seen = -1;
      timer = setInterval(() => {
        const judged = Atomics.load(task.progress, 1);
        if (judged === seen) resolve(Atomics.load(task.progress, 0));
        seen = judged;
      }, HANG_MS);
      worker.on('message', (message: Finding | readonly Longest[]) => {
        if ('where' in message) onFinding(message);
        else resolve(message);
      });
      worker.once('error', reject);
    });
  } finally {
    clearInterval(timer);
    await worker.terminate();
  }
}
