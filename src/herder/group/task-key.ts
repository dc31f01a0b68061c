import type { TaskId } from '../../connect/task-assignment.ts';

export function taskKey({ connector, task }: TaskId): string {
  return `${connector}\0${String(task)}`;
}

export function taskOf(key: string): TaskId {
  const end = key.lastIndexOf('\0');
  return { connector: key.slice(0, end), task: Number(key.slice(end + 1)) };
}
