import assert from 'node:assert/strict';
import { TaskHost } from '../../../src/connect/hosting/task-host.ts';
import type { TaskAssignment, TaskCare } from '../../../src/connect/task-assignment.ts';
import type { BuiltTask } from '../../../src/connect/tasks/built-task.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { DEFAULT_WINDOW } from '../../../src/observe/metrics/sampled-stats.ts';

const ID = { connector: 'c', task: 0 };
const ASSIGNMENT: TaskAssignment = {
  id: ID,
  type: 'sink',
  tasks: 1,
  connectorConfig: {},
  taskConfig: {},
  targetState: 'STARTED',
};

describe('a task that is being built', () => {
  it('gets the records that became suspect in the meantime', async () => {
    let finishBuild: (built: BuiltTask) => void = () => undefined;
    const building = new Promise<BuiltTask>((resolve) => (finishBuild = resolve));
    const cares: TaskCare[] = [];
    const runner = {
      run: () => Promise.resolve(),
      stop: () => undefined,
      setCare: (care: TaskCare) => cares.push(care),
    };
    const host = new TaskHost(
      { build: () => building },
      { resolveAssignment: (assignment) => Promise.resolve(assignment) },
      () => undefined,
      { window: DEFAULT_WINDOW, logger: silentLogger },
    );
    host.start(ASSIGNMENT);
    const care: TaskCare = { suspects: [{ topic: 't', partition: 0, from: 5, to: 7 }], poisoned: [] };
    host.setCare(ID, care);
    finishBuild({ runner } as unknown as BuiltTask);
    assert.deepEqual(await host.stop([ID], 10_000), []);
    assert.deepEqual(cares, [care]);
  });
});
