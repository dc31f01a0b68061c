import assert from 'node:assert/strict';
import type { ReplayProgress } from '../../../../src/connect/dead-letters/replay-assignment.ts';
import type { TargetState, TaskAssignment, TaskId } from '../../../../src/connect/task-assignment.ts';
import type { TaskHosting } from '../../../../src/connect/hosting/task-hosting.ts';
import { RequestError } from '../../../../src/errors.ts';
import type { ConnectorState } from '../../../../src/herder/stores/config-state.ts';
import { OffsetSet } from '../../../../src/operate/dead-letters/record-counts.ts';
import { Replays, type ReplayEnd } from '../../../../src/operate/dead-letters/replays.ts';
import { replayKey, replayView, type StoredReplay } from '../../../../src/operate/dead-letters/stored-replay.ts';
import { SoleWorker } from '../../../../src/herder/group/placement.ts';
import { OwnStore } from '../../../../src/herder/stores/own-store.ts';
import { MemoryLog } from '../../../../src/herder/stores/record-log.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { MetricsPage } from '../../../../src/observe/metrics/metrics-page.ts';
import { until } from '../../../support/until.ts';

const ORDER = {
  ...{ topic: 'dead', selection: { group: 'abc' }, chain: null, rate: 5, startedBy: 'me' },
  partitions: [{ partition: 0, from: 0, end: 100 }],
};

async function openStore(): Promise<OwnStore> {
  const store = new OwnStore((onRecord) => new MemoryLog(onRecord), silentLogger);
  await store.start();
  return store;
}

class Placed extends SoleWorker {
  isOwner = true;

  override ownsConnector(): boolean {
    return this.isOwner;
  }
}

/** A worker with one connector, whose tasks only note what is asked of them. */
class Scene {
  readonly own: OwnStore;
  readonly started: TaskAssignment[] = [];
  readonly stopped: TaskId[] = [];
  readonly forgotten: number[] = [];
  readonly placement = new Placed();
  /** As the topic has them. */
  failedInTopic: () => Promise<number> = () => Promise.resolve(0);
  targetState: TargetState = 'STARTED';
  isDeleted = false;
  readonly replays: Replays;

  constructor(own: OwnStore) {
    this.own = own;
    const connector = (): ConnectorState => ({
      name: 'c',
      config: { name: 'c', 'consumer.override.group.id': 'mine' },
      targetState: this.targetState,
      taskConfigs: [{ 'task.class': 'x', transforms: 'a', 'transforms.a.type': 'A' }],
      appliedConfig: undefined,
      inconsistent: false,
      taskCountRecord: undefined,
      pendingFencing: false,
    });
    const tasks = {
      start: (assignment: TaskAssignment) => this.started.push(assignment),
      stop: (ids: readonly TaskId[]) => Promise.resolve(this.stopped.push(...ids)),
    } as unknown as TaskHosting;
    this.replays = new Replays({
      own,
      configs: { connector: () => (this.isDeleted ? undefined : connector()) },
      placement: this.placement,
      tasks,
      taskStopTimeoutMs: 100,
      hide: (text) => text.replaceAll('secret', '***'),
      logger: silentLogger,
    });
    const end: ReplayEnd = {
      countFailed: () => this.failedInTopic(),
      forget: (_, { id }) => Promise.resolve(void this.forgotten.push(id)),
    };
    this.replays.onEnd(end);
  }

  static async create(): Promise<Scene> {
    const scene = new Scene(await openStore());
    scene.replays.onStarted();
    return scene;
  }

  progress(replay: number, progress: Partial<ReplayProgress>): void {
    const counts = { read: 0, selected: 0, dropped: 0, failed: 0, positions: [], isDone: false };
    this.replays.onReplayEvent({
      id: { connector: 'c', task: 0, replay },
      state: 'REPLAYED',
      progress: { ...counts, ...progress },
    });
  }

  async ended(id: number): Promise<StoredReplay> {
    return until(async () => {
      const replay = await this.replays.get('c', id);
      return replay.state === 'RUNNING' ? undefined : replay;
    }, 'the replay has ended');
  }

  kept(id: number): Record<string, unknown> | undefined {
    return this.own.get(replayKey('c', id));
  }

  async page(): Promise<string> {
    const page = new MetricsPage([]);
    this.replays.figures.addTo(page);
    return Promise.resolve(page.text('text'));
  }
}

const counts = ({ state, read, selected, dropped, failed }: StoredReplay) => [state, read, selected, dropped, failed];

describe('replays of dead letters', () => {
  it('are kept, and run as a task beside those of the connector, until all is read', async () => {
    const scene = await Scene.create();
    const { id, state, group } = await scene.replays.begin('c', ORDER);
    assert.deepEqual([id, state], [1, 'RUNNING']);
    assert.match(group, /^mine-replay-1-[0-9a-f]{8}$/);
    assert.equal(scene.kept(1)?.['state'], 'RUNNING');
    const [task] = scene.started;
    assert.deepEqual(task?.id, { connector: 'c', task: 0, replay: 1 });
    assert.equal(task.taskConfig['consumer.override.group.id'], group);
    assert.deepEqual(task.replay, {
      ...{ topic: 'dead', group, selection: { group: 'abc' } },
      partitions: [{ partition: 0, from: 0, counted: 0, end: 100 }],
    });
    const { connectorConfig } = task;
    const settings = ['rate.limit.records', 'rate.limit.bytes', 'errors.tolerance'].map((key) => connectorConfig[key]);
    assert.deepEqual(settings, ['5', '-1', 'all']);
    scene.progress(1, { read: 40, selected: 30, positions: [{ partition: 0, next: 40 }] });
    const running = await scene.replays.get('c', 1);
    assert.deepEqual([running.read, running.selected, running.partitions[0]?.next], [40, 30, 40]);
    scene.progress(1, {
      read: 100,
      selected: 70,
      dropped: 5,
      failed: 2,
      positions: [{ partition: 0, next: 100 }],
      isDone: true,
    });
    const done = await scene.ended(1);
    assert.deepEqual(counts(done), ['DONE', 100, 70, 5, 2]);
    const view = replayView(done) as { delivered: number; transforms: unknown; partitions: unknown };
    assert.deepEqual([view.delivered, view.transforms, 'isResumed' in view], [63, null, false]);
    assert.deepEqual(view.partitions, [{ partition: 0, from: 0, next: 100, end: 100 }]);
    await until(() => scene.kept(1)?.['state'] === 'DONE', 'it is stored');
    assert.deepEqual([scene.stopped.length, scene.forgotten], [1, [1]]);
  });

  it('are one at a time for a connector, and only where it has tasks', async () => {
    const scene = await Scene.create();
    await scene.replays.begin('c', ORDER);
    const refused = (message: RegExp) => (error: unknown) =>
      error instanceof RequestError && error.status === 409 && message.test(error.message);
    await assert.rejects(scene.replays.begin('c', ORDER), refused(/Replay 1 of connector c is running/));
    await scene.replays.end('c', 1);
    scene.targetState = 'STOPPED';
    await assert.rejects(scene.replays.begin('c', ORDER), refused(/is stopped, or does not start/));
  });

  it('have a chain of their own where one is given', async () => {
    const scene = await Scene.create();
    await scene.replays.begin('c', { ...ORDER, chain: { transforms: 'b', 'transforms.b.type': 'B' } });
    const [task] = scene.started;
    for (const config of [task?.taskConfig, task?.connectorConfig]) {
      assert.deepEqual(
        Object.entries(config ?? {}).filter(([key]) => key.startsWith('transforms')),
        [
          ['transforms', 'b'],
          ['transforms.b.type', 'B'],
        ],
      );
    }
  });

  it('that are running when a worker ends continue in the next one, with the counts that were stored', async () => {
    const scene = await Scene.create();
    await scene.replays.begin('c', ORDER);
    scene.progress(1, { read: 40, selected: 30, failed: 1, positions: [{ partition: 0, next: 40 }] });
    await scene.replays.onStopping();
    assert.deepEqual([scene.kept(1)?.['state'], scene.kept(1)?.['read']], ['RUNNING', 40]);
    const next = new Scene(scene.own);
    next.failedInTopic = () => Promise.resolve(7);
    next.replays.onStarted();
    const task = await until(() => next.started[0], 'its task is started');
    assert.deepEqual(task.replay?.partitions, [{ partition: 0, from: 0, counted: 40, end: 100 }]);
    next.progress(1, {
      read: 60,
      selected: 45,
      failed: 2,
      positions: [{ partition: 0, next: 100 }],
      isDone: true,
    });
    assert.deepEqual(counts(await next.ended(1)), ['DONE', 100, 75, 0, 7], 'what failed is counted in the topic');
  });

  it('do not go back when their task starts again in another thread, which counts again what the one before has counted', async () => {
    const scene = await Scene.create();
    scene.failedInTopic = () => Promise.reject(new Error('the broker is unreachable'));
    await scene.replays.begin('c', ORDER);
    scene.progress(1, { read: 50, selected: 50, failed: 3, positions: [{ partition: 0, next: 50 }] });
    scene.progress(1, { read: 20, selected: 20, positions: [{ partition: 0, next: 20 }] });
    assert.deepEqual(counts(await scene.replays.get('c', 1)), ['RUNNING', 50, 50, 0, 3]);
    scene.progress(1, { read: 60, selected: 60, positions: [{ partition: 0, next: 60 }] });
    assert.deepEqual(counts(await scene.replays.get('c', 1)), ['RUNNING', 60, 60, 0, 3]);
    scene.progress(1, { read: 100, selected: 100, failed: 1, isDone: true });
    assert.deepEqual(counts(await scene.ended(1)), ['DONE', 100, 100, 0, 3], 'at least those that are known');
  });

  it('end with their connector, with the worker that loses it, and by request', async () => {
    const scene = await Scene.create();
    await scene.replays.begin('c', ORDER);
    scene.placement.isOwner = false;
    await scene.replays.onRevoked();
    assert.deepEqual([scene.stopped.length, scene.kept(1)?.['state']], [1, 'RUNNING'], 'the other worker continues');
    scene.placement.isOwner = true;
    scene.replays.onRebalanced();
    await until(() => scene.started.length === 2, 'it has returned');
    scene.targetState = 'STOPPED';
    scene.replays.onConnectorChanged('c');
    const stopped = await scene.ended(1);
    assert.deepEqual([stopped.state, stopped.reason], ['STOPPED', 'The connector was stopped']);
    scene.targetState = 'STARTED';
    await scene.replays.begin('c', ORDER);
    assert.equal((await scene.replays.end('c', 2)).state, 'STOPPED');
    assert.equal((await scene.replays.end('c', 2)).state, 'STOPPED', 'again');
    await assert.rejects(scene.replays.end('c', 3), /has no replay 3/);
    scene.isDeleted = true;
    scene.replays.onConnectorChanged('c');
    await until(() => scene.kept(1) === undefined && scene.kept(2) === undefined, 'they are forgotten');
  });

  it('fail with the cause of their task, without secrets', async () => {
    const scene = await Scene.create();
    await scene.replays.begin('c', ORDER);
    const trace = 'ConnectException: no\n\tat x\nCaused by: the password secret is wrong\n\tat y';
    scene.replays.onReplayEvent({
      id: { connector: 'c', task: 0, replay: 1 },
      state: 'FAILED',
      trace,
      failure: { kind: 'data' } as never,
    });
    const failed = await scene.ended(1);
    assert.deepEqual([failed.state, failed.reason], ['FAILED', 'the password *** is wrong']);
  });

  it('are kept up to the last 20 of a connector', async () => {
    const scene = await Scene.create();
    for (let id = 1; id <= 23; id++) {
      await scene.replays.begin('c', ORDER);
      await scene.replays.end('c', id);
    }
    const ids = (await scene.replays.list('c')).map(({ id }) => id);
    assert.deepEqual([ids.length, ids[0], ids.at(-1)], [20, 23, 4]);
  });

  it('are in the metrics of the worker that runs them, with letters by what came of them', async () => {
    const scene = await Scene.create();
    const values = async () =>
      [...(await scene.page()).matchAll(/^sluice_replay_\w+\{connector="c"(?:,outcome="(\w+)")?\} (\d+)$/gm)].map(
        ([, outcome = 'running', value]) => [outcome, Number(value)],
      );
    assert.match(await scene.page(), /^# TYPE sluice_replay_letters(?:_total)? counter$/m);
    assert.deepEqual(await values(), []);
    await scene.replays.begin('c', ORDER);
    scene.progress(1, { read: 50, selected: 40, dropped: 4, failed: 6 });
    assert.deepEqual(Object.fromEntries(await values()), { running: 1, delivered: 30, dropped: 4, failed: 6 });
    scene.progress(1, { read: 10, selected: 10 });
    scene.progress(1, { read: 60, selected: 50, dropped: 4, failed: 6 });
    await scene.replays.end('c', 1);
    assert.deepEqual(Object.fromEntries(await values()), { running: 0, delivered: 40, dropped: 4, failed: 6 });
    scene.isDeleted = true;
    scene.replays.onConnectorChanged('c');
    await until(async () => (await values()).length === 0, 'a connector that is gone has none');
  });
});

describe('a set of offsets', () => {
  it('has each offset of a partition once', () => {
    const set = new OffsetSet();
    const places = [
      [0, 5],
      [0, 5],
      [1, 5],
      [0, 32_768],
      [0, 0],
      [0, 31],
      [0, 32],
      [0, 2 ** 40],
      [0, 2 ** 40],
    ] as const;
    for (const [partition, offset] of places) set.add(partition, offset);
    assert.equal(set.size, 7);
  });
});
