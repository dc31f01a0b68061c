import { within } from '../async/within.ts';
import type { ExactlyOnceSources } from '../connect/source/source-task-parts.ts';
import type { SourceOffsets } from '../connect/source/offset-storage.ts';
import type { TaskEvent } from '../connect/task-assignment.ts';
import { LentOffsets } from './lent-offsets.ts';
import type { TaskControlFunctions, TaskThreadFunctions } from './thread-protocol.ts';
import { WorkerThread, type ThreadOptions, type ThreadSurroundings } from './worker-thread.ts';

/** What the main thread keeps for tasks in other threads. */
export interface LentToTasks {
  readonly offsets: SourceOffsets;
  readonly taskOwner: () => Promise<string>;
  readonly exactlyOnce: ExactlyOnceSources | undefined;
}

const CLOSE_OFFSETS_MS = 5000;

export type TaskThread = WorkerThread<TaskThreadFunctions, TaskControlFunctions>;

/** Starts a thread for tasks. */
export function openTaskThread(
  options: ThreadOptions,
  surroundings: ThreadSurroundings,
  lent: LentToTasks,
  onEvent: (thread: TaskThread, event: TaskEvent) => void,
): TaskThread {
  const offsets = new LentOffsets(lent.offsets);
  const thread: TaskThread = new WorkerThread<TaskThreadFunctions, TaskControlFunctions>(options, surroundings, {
    ...offsets.functions,
    event: (event) => {
      onEvent(thread, event);
    },
    taskOwner: () => lent.taskOwner(),
    fenceZombies: async (connector) => {
      await lent.exactlyOnce?.fenceZombies(connector);
    },
  });
  void thread.ended.then(async () => {
    if (await within(offsets.close(), CLOSE_OFFSETS_MS)) return;
    surroundings.logger.warn(`Offsets of thread ${String(thread.thread)} were not closed in time`);
  });
  return thread;
}
