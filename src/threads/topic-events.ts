import { taskText, type TaskEvent } from '../connect/tasks/task-assignment.ts';

const AGAIN_MS = 1000;
/** Beyond so many topics all are told again. */
const MAX_KNOWN = 10_000;

/**
 * Passes events of tasks on, but of a topic of a task only one a second: tasks tell of it with each batch, and a message to another
 * thread costs more than a small batch. Once is not enough, because users can reset the topics of a connector.
 */
export function thinTopicEvents(
  tell: (event: TaskEvent) => void,
  now: () => number = () => performance.now(),
): (event: TaskEvent) => void {
  const toldAt = new Map<string, number>();
  return (event) => {
    if (event.state === 'TOPIC') {
      const key = `${taskText(event.id)} ${event.topic}`;
      const at = now();
      if (at - (toldAt.get(key) ?? -Infinity) < AGAIN_MS) return;
      if (toldAt.size >= MAX_KNOWN) toldAt.clear();
      toldAt.set(key, at);
    }
    tell(event);
  };
}
