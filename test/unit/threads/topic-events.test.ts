import assert from 'node:assert/strict';
import type { TaskEvent } from '../../../src/connect/tasks/task-assignment.ts';
import { thinTopicEvents } from '../../../src/threads/topic-events.ts';

describe('events of a task about its topics', () => {
  const id = { connector: 'sink', task: 0 };

  it('are passed on once a second for each topic and task; other events always', () => {
    let now = 0;
    const told: TaskEvent[] = [];
    const tell = thinTopicEvents(
      (event) => told.push(event),
      () => now,
    );
    const topic = (name: string, task = 0): TaskEvent => ({ id: { ...id, task }, state: 'TOPIC', topic: name });
    for (const event of [topic('a'), topic('a'), topic('b'), topic('a', 1)]) tell(event);
    assert.deepEqual(told.splice(0), [topic('a'), topic('b'), topic('a', 1)]);
    now = 999;
    tell(topic('a'));
    tell({ id, state: 'RUNNING' });
    tell({ id, state: 'RUNNING' });
    assert.deepEqual(told.splice(0), [
      { id, state: 'RUNNING' },
      { id, state: 'RUNNING' },
    ]);
    now = 1000;
    tell(topic('a'));
    assert.deepEqual(told, [topic('a')]);
  });
});
