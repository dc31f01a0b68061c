import { taskText, type TaskId } from '../task-assignment.ts';

/**
 * Returns the transactional ids of the source tasks of a worker group
 * (org.apache.kafka.connect.runtime.Worker#taskTransactionalId).
 */
export function transactionalIds(groupId: string): (id: TaskId) => string {
  return (id) => `${groupId}-${taskText(id)}`;
}
