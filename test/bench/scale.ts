import { randomFrom } from '../support/random.ts';

/** CPU of the worker for a million rows of `sink-json`, in seconds: in the threads of tasks, and in the main thread. */
const TASK_S = 1.9;
const MAIN_S = 0.13;
const ROWS_A_BATCH = 10_000;
const SIMULATED_MS = 60_000;
const CORES = [1, 2, 4, 8, 16];

/**
 * `scale`: rows per second of as many tasks as cores, over those of one core, by simulation. Each batch needs a core for the work of its
 * task, with exponential times, and then the main thread, which has a core of its own and serves one batch at a time. Brokers and
 * the database are elsewhere and keep up.
 */
export function scale(): Promise<Record<string, number>> {
  const alone = 1e6 / (TASK_S + MAIN_S);
  const figures = CORES.map((cores) => [
    `${String(cores)}_cores`,
    Math.round((rowsPerSecond(cores) / alone) * 10) / 10,
  ]);
  return Promise.resolve(Object.fromEntries(figures) as Record<string, number>);
}

function rowsPerSecond(cores: number): number {
  if (cores === 1) return 1e6 / (TASK_S + MAIN_S);
  const random = randomFrom(cores);
  const next = (meanMs: number): number => -Math.log(1 - random()) * meanMs;
  const taskMs = (TASK_S * ROWS_A_BATCH) / 1000;
  const mainMs = (MAIN_S * ROWS_A_BATCH) / 1000;
  const coreFreeAt = Array.from({ length: cores - 1 }, () => 0);
  const tasks = Array.from({ length: cores }, () => ({ atMs: 0, needsMain: false }));
  let mainFreeAt = 0;
  let batches = 0;
  for (;;) {
    const task = tasks.reduce((first, each) => (each.atMs < first.atMs ? each : first));
    if (task.atMs > SIMULATED_MS) return (batches * ROWS_A_BATCH * 1000) / SIMULATED_MS;
    if (task.needsMain) {
      mainFreeAt = Math.max(task.atMs, mainFreeAt) + next(mainMs);
      task.atMs = mainFreeAt;
      batches++;
    } else {
      const core = coreFreeAt.indexOf(Math.min(...coreFreeAt));
      task.atMs = Math.max(task.atMs, coreFreeAt[core] ?? 0) + next(taskMs);
      coreFreeAt[core] = task.atMs;
    }
    task.needsMain = !task.needsMain;
  }
}
