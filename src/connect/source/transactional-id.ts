import { taskText, type TaskId } from '../task-assignment.ts';

/** The transactional ids of source tasks of a group of workers (org.apache.kafka.connect.runtime.Worker#taskTransactionalId). */
export function transactionalIds(groupId: string): (id: TaskId) => string {
  return (id) => `${groupId}-${taskText(id)}`;
}
