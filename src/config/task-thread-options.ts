import { declareOptions, type OptionResult } from './option.ts';
import type { RawConfig } from './parse.ts';
import { atLeast, nullOr, oneOf } from './validators.ts';

const GROUP = 'Threads';
const MIN_MEMORY_MB = 32;

export const taskThreadOptions = declareOptions({
  'task.isolation': {
    type: 'STRING',
    default: 'shared',
    importance: 'LOW',
    documentation: '`shared`: tasks share the threads of `task.threads`. `own`: each task has its own thread.',
    group: GROUP,
    order: 1,
    width: 'SHORT',
    displayName: 'Task isolation',
    validator: oneOf('shared', 'own'),
  },
  'task.memory.max.mb': {
    type: 'INT',
    default: null,
    importance: 'LOW',
    documentation:
      'Maximum heap size of a task in megabytes; a task that needs more becomes FAILED. Needs `task.isolation=own`.',
    group: GROUP,
    order: 2,
    width: 'SHORT',
    displayName: 'Task memory limit',
    validator: nullOr(atLeast(MIN_MEMORY_MB)),
  },
});

/** Adds an error if a heap limit is set for tasks that share a thread. */
export function withHeapCheck(results: readonly OptionResult[], config: RawConfig): readonly OptionResult[] {
  const [isSet, isOwn] = [config['task.memory.max.mb'] !== undefined, config['task.isolation']?.trim() === 'own'];
  return results.map((result) => {
    if (result.name !== 'task.memory.max.mb' || !isSet || isOwn) return result;
    const error = 'task.memory.max.mb needs task.isolation=own: tasks that share a thread share its heap';
    return { ...result, errors: [...result.errors, error] };
  });
}
