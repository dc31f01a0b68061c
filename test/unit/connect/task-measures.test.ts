import assert from 'node:assert/strict';
import { TaskMeasures } from '../../../src/connect/tasks/task-measures.ts';
import { METRIC_GROUPS } from '../../../src/observe/metrics/metric-groups.ts';

const WINDOW = { sampleMs: 30_000, samples: 2 };

function measures(state: 'RUNNING' | 'PAUSED' = 'RUNNING') {
  const clock = { ms: 0 };
  return { clock, task: new TaskMeasures(WINDOW, state, () => clock.ms) };
}

describe('Measures of a task', () => {
  it('divide its time into running, paused and failed', () => {
    const { clock, task } = measures('PAUSED');
    assert.deepEqual([task.values()['running-ratio'], task.values()['pause-ratio']], [0, 1]);
    clock.ms = 250;
    task.is('RUNNING');
    clock.ms = 750;
    assert.equal(task.values()['running-ratio'], 500 / 750);
    task.is('FAILED');
    clock.ms = 1000;
    assert.deepEqual([task.values()['running-ratio'], task.values()['pause-ratio']], [0.5, 0.25]);
  });

  it('batches and offset commits', () => {
    const { clock, task } = measures();
    const { 'batch-size-max': max, 'offset-commit-avg-time-ms': commit } = task.values();
    assert.deepEqual([max, commit], [NaN, NaN]);
    task.batch(10);
    task.batch(0);
    clock.ms = 8;
    task.committed(3);
    task.commitFailed();
    const values = task.values();
    assert.deepEqual([values['batch-size-max'], values['batch-size-avg']], [10, 5]);
    assert.deepEqual([values['offset-commit-max-time-ms'], values['offset-commit-avg-time-ms']], [5, 5]);
    assert.equal(values['offset-commit-success-percentage'], 0.5);
    assert.equal(values['offset-commit-failure-percentage'], 0.5);
  });

  it('of a sink: what it reads, puts and commits', () => {
    const { clock, task } = measures();
    const { sink } = task;
    sink.read(30);
    clock.ms = 20;
    sink.put(20, 10);
    sink.put(10, 16);
    sink.active(30);
    sink.active(10);
    sink.commitBegun();
    sink.commitCompleted();
    sink.commitBegun();
    const values = sink.values();
    assert.deepEqual(Object.fromEntries(Object.entries(values).filter(([name]) => !name.endsWith('-rate'))), {
      'sink-record-read-total': 30,
      'sink-record-send-total': 30,
      'put-batch-max-time-ms': 10,
      'put-batch-avg-time-ms': 7,
      'sink-record-active-count': 10,
      'sink-record-active-count-max': 30,
      'sink-record-active-count-avg': 20,
      'offset-commit-seq-no': 2,
      'offset-commit-completion-total': 1,
      'offset-commit-skip-total': 0,
    });
    assert.equal(values['sink-record-read-rate'], (30 / 30_020) * 1000);
  });

  it('of a source: the records that it returns, and those that are written', () => {
    const { clock, task } = measures();
    const { source } = task;
    clock.ms = 5;
    source.polled(100, 0);
    source.done(40, 38);
    source.transaction(38);
    source.transaction(2);
    assert.deepEqual(Object.fromEntries(Object.entries(source.values()).filter(([name]) => !name.endsWith('-rate'))), {
      'source-record-poll-total': 100,
      'source-record-write-total': 38,
      'poll-batch-max-time-ms': 5,
      'poll-batch-avg-time-ms': 5,
      'source-record-active-count': 60,
      'source-record-active-count-max': 100,
      'source-record-active-count-avg': 80,
      'transaction-size-min': 2,
      'transaction-size-max': 38,
      'transaction-size-avg': 20,
    });
  });

  it('are all described', () => {
    const { task } = measures();
    const groups = {
      'connector-task-metrics': task,
      'sink-task-metrics': task.sink,
      'source-task-metrics': task.source,
    };
    for (const [group, of] of Object.entries(groups)) {
      for (const name of Object.keys(of.values()))
        assert.ok(METRIC_GROUPS[group]?.[name] !== undefined, `${group} ${name}`);
    }
  });
});
