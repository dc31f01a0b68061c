import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Failure } from '../../../../src/connect/task-failure.ts';
import type { ConnectorState } from '../../../../src/herder/stores/config-state.ts';
import { Healing } from '../../../../src/operate/restarts/healing.ts';
import { targetText } from '../../../../src/operate/restarts/healing-entry.ts';
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
  let workers: Healing[];

  const worker = (defaults: Record<string, string> = {}): Healing => {
    const healing = new Healing({
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
    workers.push(healing);
    return healing;
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
    await Promise.all(workers.map((healing) => healing.onStopping()));
    mock.timers.reset();
    mock.restoreAll();
  });

  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const pass = async (ms: number): Promise<void> => {
    await settled();
    mock.timers.tick(ms);
    await settled();
  };
  const fails = async (healing: Healing, target = TASK, failure = AWAY): Promise<void> => {
    healing.onFailed(target, failure);
    await settled();
  };
  const view = (healing: Healing) =>
    healing.views('c').map(({ task, state: of, attempt, kind }) => [task, of, attempt, kind]);

  it('come after a pause that doubles, and is reset after the quiet time', async () => {
    const healing = worker({ 'restart.quiet.ms': '60000' });
    await fails(healing);
    assert.deepEqual(view(healing), [[0, 'WAITING', 1, 'infrastructure']]);
    assert.equal(healing.views('c')[0]?.nextAttemptAt, new Date(1_001_000).toISOString());
    await pass(999);
    assert.deepEqual(restarted, []);
    await pass(1);
    assert.deepEqual(restarted, ['Task c-0']);
    healing.onRunning(TASK);
    await pass(59_999);
    await fails(healing);
    await pass(1999);
    assert.equal(restarted.length, 1);
    await pass(1);
    assert.equal(restarted.length, 2);
    healing.onRunning(TASK);
    assert.deepEqual(view(healing), [[0, 'STARTED', 2, 'infrastructure']]);
    await pass(60_000);
    assert.deepEqual([view(healing), own.entries('healing/')], [[], []]);
    assert.deepEqual(healing.figures().made, [{ connector: 'c', of: 'task', kind: 'infrastructure', count: 2 }]);
  });

  it('are made of connector instances as well, apart from their tasks', async () => {
    const healing = worker();
    await fails(healing, INSTANCE);
    await fails(healing, TASK);
    assert.deepEqual([...healing.figures().waiting], [['c', 2]]);
    await pass(1000);
    assert.deepEqual(restarted.sort(), ['Connector c', 'Task c-0']);
  });

  it('are not made of bad data, whose failure is logged with the reason', async () => {
    const healing = worker();
    await fails(healing, TASK, { kind: 'data', reason: 'the secret is no JSON' });
    await pass(3_600_000);
    assert.deepEqual(restarted, []);
    assert.deepEqual(view(healing), [[0, 'GIVEN_UP', 0, 'data']]);
    assert.equal(healing.views('c')[0]?.reason, 'the [hidden] is no JSON');
  });

  it('end after the last attempt, and continue after a request', async () => {
    const healing = worker({ 'restart.policy': 'always', 'restart.max.attempts': '2' });
    for (let attempt = 0; attempt < 4; attempt++) {
      await fails(healing, TASK, BAD);
      await pass(300_000);
    }
    assert.equal(restarted.length, 2);
    assert.deepEqual(view(healing), [[0, 'GIVEN_UP', 2, 'data']]);
    healing.onRestart(TASK);
    assert.deepEqual(view(healing), []);
    await fails(healing, TASK, BAD);
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
    const healing = worker();
    await fails(healing);
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

  it('rest while the connector is paused, and start over when it is resumed', async () => {
    const healing = worker();
    await fails(healing);
    await pass(1000);
    await fails(healing);
    configs.set('c', state({ targetState: 'PAUSED' }));
    healing.onConnectorChanged('c', 'target state');
    await pass(3_600_000);
    assert.deepEqual([restarted.length, view(healing), own.entries('healing/')], [1, [], []]);
    configs.set('c', state());
    healing.onConnectorChanged('c', 'target state');
    await settled();
    assert.deepEqual(view(healing), [[0, 'WAITING', 1, 'infrastructure']]);
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
    const healing = worker();
    assert.equal(healing.isHeld(TASK), false);
    assert.deepEqual(view(healing), []);
    healing.onRebalanced(true);
    await settled();
    assert.deepEqual(
      own.entries('healing/').map(([key]) => key),
      ['healing/c/0'],
    );
  });
});
