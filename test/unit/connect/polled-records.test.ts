import assert from 'node:assert/strict';
import type { SinkTask } from '../../../src/connect/api.ts';
import { PolledRecords } from '../../../src/connect/sink/polled-records.ts';
import type { Converters, SinkRecordConverter } from '../../../src/connect/pipeline/record-converter.ts';
import type { ConsumedBlock, ConsumedRecord } from '../../../src/kafka/api.ts';

function block(partition: number, from: number, count: number): ConsumedBlock {
  const offsets = Array.from({ length: count }, (_, index) => from + index);
  const record = (index: number) => ({ topic: 't', partition, offset: from + index });
  return { topic: 't', partition, offsets, count, record } as unknown as ConsumedBlock;
}

describe('polled records on their way into a task', () => {
  it('do not count where the task went elsewhere while it took them', async () => {
    const put: number[] = [];
    const task = {
      put: (records: readonly ConsumedRecord[]) => {
        put.push(...records.map(({ offset }) => offset));
        polled.keep((key) => key !== 't/0');
        return Promise.resolve();
      },
    } as unknown as SinkTask;
    const converter = {
      convert: (records: readonly ConsumedRecord[]) => Promise.resolve(records),
    } as unknown as SinkRecordConverter;
    const polled = new PolledRecords(task, converter, { value: {} } as unknown as Converters, true);
    await polled.take([block(0, 5, 2), block(1, 7, 1)]);
    const ends: string[] = [];
    await polled.put(({ partition, offset }, count) => {
      ends.push(`${String(partition)}: ${String(offset)}, ${String(count)}`);
    });
    assert.deepEqual(put, [5, 6, 7]);
    assert.deepEqual(ends, ['1: 8, 1']);
    assert.equal(polled.count, 0);
  });
});
