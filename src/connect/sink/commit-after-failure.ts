import { within } from '../../async/within.ts';
import type { Logger } from '../../observe/logger.ts';

/** Twice what tasks take to store what waits (see `SinkTask.preCommit`). */
const TIMEOUT_MS = 10_000;

/**
 * As in Java (WorkerSinkTask#closeAllPartitions): what is stored is not to be read again after a restart. It must not keep the
 * failure from being seen for long.
 */
export async function commitAfterFailure(commit: Promise<unknown>, logger: Logger): Promise<void> {
  const committing = commit.catch((error: unknown) => {
    logger.warn({ err: error }, 'Offset commit failed during close');
  });
  const isDone = await within(committing, TIMEOUT_MS);
  if (!isDone) logger.warn('The offsets were not committed in time: what was stored last is read again');
}
