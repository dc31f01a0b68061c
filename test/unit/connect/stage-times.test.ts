import assert from 'node:assert/strict';
import { StageTimes } from '../../../src/connect/pipeline/stage-times.ts';
import { connectorFlow } from '../../../src/operate/fleet/connector-flow.ts';
import type { TaskReport } from '../../../src/connect/hosting/task-hosting.ts';

describe('times of the stages of a task', () => {
  it('are of one record in 256, and of one slice of structs in 128', () => {
    const times = new StageTimes([]);
    const due = (of: () => boolean, calls: number) =>
      Array.from({ length: calls }, (_, index) => (of() ? index : -1)).filter((index) => index >= 0);
    assert.deepEqual(
      [due(() => times.isRecordDue(), 600), due(() => times.isSliceDue(), 260)],
      [
        [0, 256, 512],
        [0, 128, 256],
      ],
    );
  });

  it('are averages per record, with the numbers of passed and failed records', () => {
    const times = new StageTimes([{ alias: 'drop', className: 'Filter' }]);
    times.converted(4, 2);
    times.converted(4, 1);
    times.transformed(0, 0.5, true);
    times.transformed(0, 1.5, false);
    times.failed();
    times.failed(0);
    times.failed(0);
    assert.deepEqual(times.details(), {
      stages: [
        { name: 'converter', className: '', samples: 2, microseconds: 3000, passed: 1, errors: 1 },
        { name: 'drop', className: 'Filter', samples: 2, microseconds: 1000, passed: 0.5, errors: 2 },
      ],
      areStagesInPut: false,
    });
  });

  it('of several tasks become those of the connector, by their samples', () => {
    const report = (samples: number, microseconds: number): TaskReport => ({
      id: { connector: 'c', task: 0 },
      type: 'sink',
      metrics: [
        { group: 'sink-task-metrics', tags: {}, values: { 'sink-record-read-rate': 10, 'put-batch-avg-time-ms': 2 } },
        { group: 'connector-task-metrics', tags: {}, values: { 'batch-size-avg': 100 } },
      ] as unknown as TaskReport['metrics'],
      details: {
        partitions: [{ topic: 't', partition: 0, lag: 5 }],
        parts: [],
        progress: {} as never,
        stages: [{ name: 'converter', className: '', samples, microseconds, passed: 1, errors: 1 }],
        written: { tables: [{ name: 'x', rows: 7 }], microseconds: 3 },
      },
    });
    const flow = connectorFlow([report(1, 10), report(3, 2)]);
    assert.deepEqual(flow.stages, [
      { name: 'converter', className: '', samples: 4, microseconds: 4, passed: 1, errors: 2 },
    ]);
    assert.deepEqual(
      [flow.readRate, flow.taskMicroseconds, flow.topics, flow.tables, flow.writeMicroseconds],
      [20, 20, [{ name: 't', partitions: 2, lag: 10 }], [{ name: 'x', rows: 14 }], 3],
    );
  });
});
