import assert from 'node:assert/strict';
import { staticMember } from '../../../src/connect/tasks/kafka-task-clients.ts';

describe('group.instance.id of a sink', () => {
  it('has the number of the task where there are several', () => {
    const given = { 'group.instance.id': 'sink' };
    assert.deepEqual(staticMember(given, { task: 2 }, { 'tasks.max': '3' }), { 'group.instance.id': 'sink-2' });
    assert.deepEqual(staticMember(given, { task: 0 }, { 'tasks.max': '1' }), {});
    assert.deepEqual(staticMember(given, { task: 0 }, {}), {});
    assert.deepEqual(staticMember({}, { task: 1 }, { 'tasks.max': '3' }), {});
  });
});
