import { WorkerProcess } from '../support/worker-process.ts';
import type { RepeatOptions } from './repeat.ts';

/** Work with a worker of its own, whose log is shown when it fails. */
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
