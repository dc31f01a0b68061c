import assert from 'node:assert/strict';
import type { DeliveredOffsets } from '../../../../src/connect/sink/delivered-offsets.ts';
import type { OnPut, PolledRecords } from '../../../../src/connect/sink/polled-records.ts';
import { SinkPositions } from '../../../../src/connect/sink/sink-positions.ts';
import { SinkPuts } from '../../../../src/connect/sink/sink-puts.ts';
import { SinkTaskLog } from '../../../../src/connect/sink/sink-task-log.ts';
import { RetriableError } from '../../../../src/errors.ts';
import { SourceBench } from '../source-fakes.ts';

const PLACE = { topic: 't', partition: 0 } as const;

describe('the metrics of a put', () => {
  it('count the records that the task accepted before it requested a retry', async () => {
    const { runtime } = new SourceBench();
    const positions = new SinkPositions();
    positions.own(PLACE, 0);
    const later = new RetriableError('later');
    const polled = {
      count: 5,
      isEmpty: false,
      next: () => ({ count: 5, ranges: [] }),
      put: (onPut: OnPut) => {
        onPut({ ...PLACE, offset: 3 }, 3, 2);
        return Promise.reject(later);
      },
    } as unknown as PolledRecords;
    const delivery = {} as unknown as DeliveredOffsets;
    const puts = new SinkPuts(runtime, { polled, positions, delivery }, new SinkTaskLog(runtime.logger));
    assert.equal(await puts.put(), later);
    const values = runtime.measures.sink.values();
    assert.equal(values['sink-record-send-total'], 2, 'a record that was dropped is not sent');
    assert.equal(values['sink-record-active-count'], 3);
    assert.equal(runtime.measures.values()['batch-size-max'], 2);
    runtime.place.close();
  });
});
