import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Failure } from '../../../../src/connect/task-failure.ts';
import type { ConnectorState } from '../../../../src/herder/stores/config-state.ts';
import { AutomaticRestarts } from '../../../../src/operate/restarts/automatic-restarts.ts';
import { targetText } from '../../../../src/operate/restarts/restart-state.ts';
import type { RestartTarget } from '../../../../src/herder/herder-listener.ts';
import { MemoryLog } from '../../../../src/herder/stores/record-log.ts';
import { OwnStore } from '../../../../src/herder/stores/own-store.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';

const AWAY: Failure = { kind: 'infrastructure', reason: 'connection refused' };
const BAD: Failure = { kind: 'data', reason: 'no JSON' };
const TASK: RestartTarget = { connector: 'c', task: 0 };
const INSTANCE: RestartTarget = { connector: 'c' };

const state = (more: Partial<ConnectorState> = {}): ConnectorState => ({
  name: 'c',
  config: { name: 'c' },
  targetState: 'STARTED',
  taskConfigs: [{ task: '0' }, { task: '1' }],
  appliedConfig: undefined,
  inconsistent: false,
  taskCountRecord: undefined,
  pendingFencing: false,
  ...more,
});

describe('restarts of what has failed', () => {
  let own: OwnStore;
  let configs: Map<string, ConnectorState>;
  let restarted: string[];
  let held: string[];
  let mayWorkUntil: number;
  let owned: boolean;
  let workers: AutomaticRestarts[];

  const worker = (defaults: Record<string, string> = {}): AutomaticRestarts => {
    const restarts = new AutomaticRestarts({
      own,
      configs: { connector: (name) => configs.get(name) },
      placement: {
        ownsConnector: () => owned,
        ownsTask: () => owned,
        get mayWorkUntil() {
          return mayWorkUntil;
        },
      },
      resolver: { resolve: (config) => Promise.resolve({ config, ttlMs: undefined, values: new Map() }) },
      defaults,
      hide: (text) => text.replace('secret', '[hidden]'),
      work: {
        restart: (target) => {
          restarted.push(targetText(target));
          return Promise.resolve();
        },
        hold: (target) => held.push(targetText(target)),
      },
      logger: silentLogger,
    });
    workers.push(restarts);
    return restarts;
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
    mock.method(Math, 'random', () => 0.5);
    own = new OwnStore((onRecord) => new MemoryLog(onRecord), silentLogger);
    configs = new Map([['c', state()]]);
    restarted = [];
    held = [];
    workers = [];
    mayWorkUntil = Infinity;
    owned = true;
  });
  afterEach(async () => {
    await Promise.all(workers.map((restarts) => restarts.onStopping()));
    mock.timers.reset();
    mock.restoreAll();
  });

  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const pass = async (ms: number): Promise<void> => {
    await settled();
    mock.timers.tick(ms);
    await settled();
  };
  const fails = async (restarts: AutomaticRestarts, target = TASK, failure = AWAY): Promise<void> => {
    restarts.onFailed(target, failure);
    await settled();
  };
  const view = (restarts: AutomaticRestarts) =>
    restarts.views('c').map(({ task, state: of, attempt, kind }) => [task, of, attempt, kind]);

  it('come after a pause that doubles, and start again after the quiet time', async () => {
    const restarts = worker({ 'restart.quiet.ms': '60000' });
    await fails(restarts);
    assert.deepEqual(view(restarts), [[0, 'WAITING', 1, 'infrastructure']]);
    assert.equal(restarts.views('c')[0]?.nextAttemptAt, new Date(1_001_000).toISOString());
    await pass(999);
    assert.deepEqual(restarted, []);
    await pass(1);
    assert.deepEqual(restarted, ['Task c-0']);
    restarts.onRunning(TASK);
    await pass(59_999);
    await fails(restarts);
    await pass(1999);
    assert.equal(restarted.length, 1);
    await pass(1);
    assert.equal(restarted.length, 2);
    restarts.onRunning(TASK);
    assert.deepEqual(view(restarts), [[0, 'STARTED', 2, 'infrastructure']]);
    await pass(60_000);
    assert.deepEqual([view(restarts), own.entries('healing/')], [[], []]);
    assert.deepEqual(restarts.figures().made, [{ connector: 'c', of: 'task', kind: 'infrastructure', count: 2 }]);
  });

  it('are made of connector instances as well, apart from their tasks', async () => {
    const restarts = worker();
    await fails(restarts, INSTANCE);
    await fails(restarts, TASK);
    assert.deepEqual([...restarts.figures().waiting], [['c', 2]]);
    await pass(1000);
    assert.deepEqual(restarted.sort(), ['Connector c', 'Task c-0']);
  });

  it('are not made of bad data, whose failure is logged with the reason', async () => {
    const restarts = worker();
    await fails(restarts, TASK, { kind: 'data', reason: 'the secret is no JSON' });
    await pass(3_600_000);
    assert.deepEqual(restarted, []);
    assert.deepEqual(view(restarts), [[0, 'GIVEN_UP', 0, 'data']]);
    assert.equal(restarts.views('c')[0]?.reason, 'the [hidden] is no JSON');
  });

  it('end after the last attempt, and continue after a request', async () => {
    const restarts = worker({ 'restart.policy': 'always', 'restart.max.attempts': '2' });
    for (let attempt = 0; attempt < 4; attempt++) {
      await fails(restarts, TASK, BAD);
      await pass(300_000);
    }
    assert.equal(restarted.length, 2);
    assert.deepEqual(view(restarts), [[0, 'GIVEN_UP', 2, 'data']]);
    restarts.onRestart(TASK);
    assert.deepEqual(view(restarts), []);
    await fails(restarts, TASK, BAD);
    await pass(1000);
    assert.equal(restarted.length, 3);
  });

  it('are counted on by the worker that takes a task over, which waits for their time', async () => {
    const one = worker();
    await fails(one);
    await pass(1000);
    await fails(one);
    await settled();
    const two = worker();
    assert.equal(two.isHeld(TASK), true);
    assert.equal(two.isHeld({ connector: 'c', task: 1 }), false);
    assert.deepEqual(held, ['Task c-0']);
    await one.onStopping();
    await pass(1999);
    assert.equal(restarted.length, 1);
    await pass(1);
    assert.equal(restarted.length, 2);
    await fails(two);
    assert.deepEqual(view(two), [[0, 'WAITING', 3, 'infrastructure']]);
    assert.deepEqual(view(worker()), [[0, 'WAITING', 3, 'infrastructure']]);
  });

  it('begin at once elsewhere when their time is over, and then count as made', async () => {
    const one = worker();
    await fails(one);
    await one.onStopping();
    await pass(5000);
    const two = worker();
    assert.equal(two.isHeld(TASK), false);
    two.onRunning(TASK);
    assert.deepEqual(view(two), [[0, 'STARTED', 1, 'infrastructure']]);
    await fails(two);
    assert.deepEqual(view(two), [[0, 'WAITING', 2, 'infrastructure']]);
  });

  it('come back to a worker with what another one has counted meanwhile', async () => {
    const [one, two] = [worker(), worker()];
    await fails(one);
    one.onLeft(TASK);
    await pass(1000);
    assert.deepEqual(restarted, []);
    assert.equal(two.isHeld(TASK), false);
    two.onRunning(TASK);
    await fails(two);
    await settled();
    two.onLeft(TASK);
    assert.equal(one.isHeld(TASK), true);
    assert.deepEqual(view(one), [[0, 'WAITING', 2, 'infrastructure']]);
  });

  it('wait while others may have the task', async () => {
    const restarts = worker();
    await fails(restarts);
    mayWorkUntil = 0;
    await pass(1000);
    assert.deepEqual(restarted, []);
    mayWorkUntil = Infinity;
    await pass(1000);
    assert.deepEqual(restarted, ['Task c-0']);
  });

  it('start over with another configuration, also with one that came while no worker was there', async () => {
    const one = worker();
    await fails(one);
    configs.set('c', state({ taskConfigs: [{ task: 'other' }, { task: '1' }] }));
    const two = worker();
    assert.equal(two.isHeld(TASK), false);
    await fails(two);
    assert.deepEqual(view(two), [[0, 'WAITING', 1, 'infrastructure']]);
    one.onConnectorChanged('c', 'configuration');
    await pass(1000);
    assert.deepEqual(restarted, ['Task c-0'], 'of the second alone');
  });

  it('rest while the connector is paused, and start again when it is resumed', async () => {
    const restarts = worker();
    await fails(restarts);
    await pass(1000);
    await fails(restarts);
    configs.set('c', state({ targetState: 'PAUSED' }));
    restarts.onConnectorChanged('c', 'target state');
    await pass(3_600_000);
    assert.deepEqual([restarted.length, view(restarts), own.entries('healing/')], [1, [], []]);
    configs.set('c', state());
    restarts.onConnectorChanged('c', 'target state');
    await settled();
    assert.deepEqual(view(restarts), [[0, 'WAITING', 1, 'infrastructure']]);
    await pass(1000);
    assert.equal(restarted.length, 2);
  });

  it('leave nothing behind of a connector that is deleted', async () => {
    const [leader, other] = [worker(), worker()];
    await fails(leader);
    await fails(other, { connector: 'c', task: 1 });
    configs.delete('c');
    leader.onForgotten('c', true);
    other.onForgotten('c', false);
    await settled();
    assert.deepEqual(own.entries('healing/'), []);
    await pass(3_600_000);
    assert.deepEqual(restarted, []);
  });

  it('survive what others write into the topic, which the leader takes away', async () => {
    await own.put('healing/c/0', { state: 'WAITING', attempt: 'many' });
    await own.put('healing/%zz/0', {});
    await own.put('healing/gone/7', {});
    const restarts = worker();
    assert.equal(restarts.isHeld(TASK), false);
    assert.deepEqual(view(restarts), []);
    restarts.onRebalanced(true);
    await settled();
    assert.deepEqual(
      own.entries('healing/').map(([key]) => key),
      ['healing/c/0'],
    );
  });
});
