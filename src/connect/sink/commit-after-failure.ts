import { within } from '../../async/within.ts';
import type { Logger } from '../../observe/logger.ts';

/** Twice the time that tasks need to store their pending records (see `SinkTask.preCommit`). */
const TIMEOUT_MS = 10_000;

/**
 * Waits for a last commit, so that stored records are not read again after a restart (WorkerSinkTask#closeAllPartitions). The wait is
 * limited, so that the failure is reported soon.
 */
export async function commitAfterFailure(commit: Promise<unknown>, logger: Logger): Promise<void> {
  const committing = commit.catch((error: unknown) => {
    logger.warn({ err: error }, 'Offset commit failed during close');
  });
  const isDone = await within(committing, TIMEOUT_MS);
  if (!isDone) logger.warn('The offset commit timed out; the last records will be read again');
}
