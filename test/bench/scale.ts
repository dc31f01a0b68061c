import { randomFrom } from '../support/random.ts';

/** CPU seconds of the worker per million rows of `sink-json`, in the task threads and in the main thread. */
const TASK_S = 1.9;
const MAIN_S = 0.13;
const ROWS_A_BATCH = 10_000;
const SIMULATED_MS = 60_000;
const CORES = [1, 2, 4, 8, 16];

/**
 * `scale`: simulates the ratio of the rows per second with one task per core to those on one core. The work of a batch
 * by its task takes an exponentially distributed time on one core. Then the main thread, which has its own core,
 * processes one batch at a time. Brokers and the database are on other machines and fast enough.
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
