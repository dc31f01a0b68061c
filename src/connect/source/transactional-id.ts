import { taskText, type TaskId } from '../task-assignment.ts';

/**
 * Returns a function that yields the transactional id of a source task of a worker group
 * (org.apache.kafka.connect.runtime.Worker#taskTransactionalId).
 */
export function transactionalIds(groupId: string): (id: TaskId) => string {
  return (id) => `${groupId}-${taskText(id)}`;
}
