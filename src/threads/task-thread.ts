import { within } from '../async/within.ts';
import type { ExactlyOnceSources } from '../connect/source/source-task-parts.ts';
import type { SourceOffsets } from '../connect/source/offset-storage.ts';
import type { TaskEvent } from '../connect/task-assignment.ts';
import { ThreadOffsets } from './remote-offsets.ts';
import type { TaskControlFunctions, TaskThreadFunctions } from './thread-protocol.ts';
import { WorkerThread, type ThreadOptions, type ThreadContext } from './worker-thread.ts';

/** Resources of the main thread that are available to tasks in worker threads. */
export interface TaskThreadResources {
  readonly offsets: SourceOffsets;
  readonly taskOwner: () => Promise<string>;
  readonly exactlyOnce: ExactlyOnceSources | undefined;
}

const CLOSE_OFFSETS_MS = 5000;

export type TaskThread = WorkerThread<TaskThreadFunctions, TaskControlFunctions>;

export function openTaskThread(
  options: ThreadOptions,
  context: ThreadContext,
  resources: TaskThreadResources,
  onEvent: (thread: TaskThread, event: TaskEvent) => void,
): TaskThread {
  const offsets = new ThreadOffsets(resources.offsets);
  const thread: TaskThread = new WorkerThread<TaskThreadFunctions, TaskControlFunctions>(options, context, {
    ...offsets.functions,
    event: (event) => {
      onEvent(thread, event);
    },
    taskOwner: () => resources.taskOwner(),
    fenceZombies: async (connector) => {
      await resources.exactlyOnce?.fenceZombies(connector);
    },
  });
  void thread.ended.then(async () => {
    if (await within(offsets.close(), CLOSE_OFFSETS_MS)) return;
    context.logger.warn(`Offsets of thread ${String(thread.thread)} were not closed in time`);
  });
  return thread;
}
