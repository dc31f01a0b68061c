import type { ValidatedSection } from './config-values.ts';
import { declareOptions } from './option.ts';
import { validateOptions, type RawConfig } from './parse.ts';
import { atLeast, nullOr, oneOf } from './validators.ts';

const GROUP = 'Threads';
const MIN_MEMORY_MB = 32;

/**
 * Options of a connector that Kafka Connect does not have.
 * @internal
 */
export const taskThreadOptions = declareOptions({
  'task.isolation': {
    type: 'STRING',
    default: 'shared',
    importance: 'LOW',
    documentation: '`shared`: tasks share the threads of `task.threads`. `own`: each task has a thread of its own.',
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
      'Megabytes that the heap of a task may have; a task that needs more becomes FAILED. Needs `task.isolation=own`.',
    group: GROUP,
    order: 2,
    width: 'SHORT',
    displayName: 'Task memory limit',
    validator: nullOr(atLeast(MIN_MEMORY_MB)),
  },
});

/** Only of those that are set: without them, answers are Connect's. */
export function taskThreadSection(config: RawConfig): ValidatedSection {
  const results = validateOptions(taskThreadOptions, config).filter(({ name }) => config[name] !== undefined);
  const isOwn = config['task.isolation']?.trim() === 'own';
  return {
    declarations: taskThreadOptions,
    results: results.map((result) => {
      if (result.name !== 'task.memory.max.mb' || isOwn) return result;
      const error = 'task.memory.max.mb needs task.isolation=own: tasks that share a thread share its heap';
      return { ...result, errors: [...result.errors, error] };
    }),
  };
}
