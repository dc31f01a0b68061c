import { WorkerProcess } from '../support/worker-process.ts';
import type { RepeatOptions } from './repeat.ts';

/** Runs work with its own worker, whose log is printed if the work fails. */
export async function withWorker(
  print: RepeatOptions['print'],
  work: (worker: WorkerProcess) => Promise<void>,
): Promise<void> {
  const worker = await WorkerProcess.start();
  try {
    await work(worker);
  } catch (error) {
    print(worker.logTail());
    throw error;
  } finally {
    await worker.discard();
  }
}
