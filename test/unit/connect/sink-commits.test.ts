import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { SinkTaskRunner } from '../../../src/connect/sink/sink-task-runner.ts';
import type { SinkTask, SinkTaskContext } from '../../../src/connect/api.ts';
import type { TaskCare } from '../../../src/connect/task-assignment.ts';
import type { RecordBlock, Consumer, RebalanceListener } from '../../../src/kafka/api.ts';
import { CommitRefusedError } from '../../../src/kafka/errors/kafka-errors.ts';
import { until } from '../../support/until.ts';
import { SourceBench } from './source-fakes.ts';

const PARTITION = { topic: 't', partition: 0 };
const RECORDS = 60;
const NOT_A_MEMBER =
  'Offset commit of group connect-c cannot be completed since the consumer is not part of an active group';

function block(): RecordBlock {
  const record = (index: number) => {
    const none = { key: null, value: null, headers: [], timestamp: 0, timestampType: 'CreateTime' };
    return { ...PARTITION, offset: index, ...none };
  };
  const offsets = Array.from({ length: RECORDS }, (_, index) => index);
  const places = { valueStarts: [], valueEnds: [] };
  return { ...PARTITION, offsets, count: RECORDS, record, ...places } as unknown as RecordBlock;
}

/** A sink task whose consumer has been removed from its group, until `isMember` is set. */
class SinkBench {
  readonly bench = new SourceBench();
  readonly runner: SinkTaskRunner;
  isMember = false;
  /** Calls of the consumer and the task, in order. */
  readonly asked: string[] = [];
  #context: SinkTaskContext | undefined;

  constructor(care: TaskCare | undefined, onPut: (context: SinkTaskContext) => void = () => undefined) {
    let listener: RebalanceListener | undefined;
    let polls = 0;
    const consumer = {
      isInGroup: true,
      subscribe: (_topics: unknown, given: RebalanceListener) => (listener = given),
      pollBlocks: async (waitMs: number) => {
        this.asked.push('poll');
        if (polls++ > 0) {
          await delay(Math.min(waitMs, 10));
          return [];
        }
        await listener?.onAssigned([PARTITION]);
        return [block()];
      },
      commit: async () => {
        await Promise.resolve();
        this.asked.push('commit');
        if (!this.isMember) throw new CommitRefusedError(NOT_A_MEMBER);
      },
      assignment: () => [PARTITION],
      position: () => 0,
      wakeup: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      close: () => Promise.resolve(),
    };
    const task = {
      start: async (context: SinkTaskContext) => {
        await Promise.resolve();
        this.#context = context;
      },
      put: async (records: readonly unknown[]) => {
        await Promise.resolve();
        if (records.length > 0) this.asked.push(`put ${String(records.length)}`);
        if (this.#context !== undefined) onPut(this.#context);
      },
      preCommit: (delivered: ReadonlyMap<string, unknown>) => Promise.resolve([...delivered.values()]),
      stop: () => Promise.resolve(),
    };
    const { runtime } = this.bench;
    const assignment = { ...runtime.assignment, type: 'sink', care } as const;
    this.runner = new SinkTaskRunner(
      { ...runtime, assignment, offsetFlushIntervalMs: 60_000 },
      task as unknown as SinkTask,
      consumer as unknown as Consumer,
      ['t'],
    );
  }

  count(what: string): number {
    return this.asked.filter((each) => each === what).length;
  }
}

describe('K3: offset commits of a sink task that is not a member of its group', () => {
  it('are tried once a second at most, and logged as often, however often the task asks for one', async () => {
    const sink = new SinkBench(undefined, (context) => {
      context.requestCommit();
    });
    const beganAt = performance.now();
    const running = sink.runner.run();
    await until(() => sink.count('commit') >= 3, 'three commits were tried', { timeoutMs: 25_000 });
    assert.ok(performance.now() - beganAt > 1_900, String(performance.now() - beganAt));
    assert.ok(sink.count('poll') > 10, 'the task polls in between');
    const { bench } = sink;
    const lines = bench.messages(40).filter((line) => line.startsWith('Offset commit failed'));
    assert.ok(lines.length >= 2 && lines.length <= sink.count('commit'), String(lines));
    assert.equal(bench.log.find(({ err }) => err !== undefined)?.err?.message, NOT_A_MEMBER);
    sink.isMember = true;
    const { length } = bench.log;
    const tried = sink.count('commit');
    await until(() => sink.count('commit') > tried, 'a member commits');
    sink.runner.stop();
    await running;
    assert.deepEqual(
      bench.log.slice(length).filter(({ msg }) => msg.startsWith('Offset commit failed')),
      [],
    );
  });

  it('are retried before another record in care is put, after a poll, so that the task learns of it', async () => {
    const suspects = [{ ...PARTITION, from: 0, to: RECORDS }];
    const sink = new SinkBench({ suspects, poisoned: [] });
    const running = sink.runner.run();
    await until(() => sink.count('commit') >= 2, 'the commit was retried', { timeoutMs: 25_000 });
    const firstFailure = sink.asked.indexOf('commit');
    assert.equal(sink.asked[firstFailure + 1], 'poll');
    assert.equal(sink.count('put 1'), 1, sink.asked.join());
    sink.isMember = true;
    await until(() => sink.count('put 1') === RECORDS, 'all records are put', { timeoutMs: 25_000 });
    sink.runner.stop();
    await running;
  });
});

describe('suspect records of a sink task', () => {
  it('are put after all earlier records are committed, so that those cannot be the reason for a hang', async () => {
    const suspects = [{ ...PARTITION, from: RECORDS - 2, to: RECORDS }];
    const sink = new SinkBench({ suspects, poisoned: [] });
    sink.isMember = true;
    const running = sink.runner.run();
    await until(() => sink.count('commit') === 3, 'all steps are committed');
    sink.runner.stop();
    await running;
    const steps = sink.asked.filter((each) => each !== 'poll');
    assert.deepEqual(steps, [`put ${String(RECORDS - 2)}`, 'commit', 'put 1', 'commit', 'put 1', 'commit']);
  });
});
