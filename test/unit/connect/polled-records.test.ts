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
      convert: (records: readonly ConsumedRecord[]) => Promise.resolve({ records, failed: undefined }),
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

  it('end their partition at one that cannot be converted: what is in front is put, and other partitions are (L3)', async () => {
    const put: string[] = [];
    const reason = new Error('no');
    const task = {
      put: (records: readonly ConsumedRecord[]) => {
        put.push(...records.map(({ partition, offset }) => `${String(partition)}/${String(offset)}`));
        return Promise.resolve();
      },
    } as unknown as SinkTask;
    const converter = {
      convert: (records: readonly ConsumedRecord[]) => {
        const index = records.findIndex(({ partition, offset }) => partition === 0 && offset === 6);
        const failed = index < 0 ? undefined : { index, error: reason };
        return Promise.resolve({ records: index < 0 ? records : records.slice(0, index), failed });
      },
    } as unknown as SinkRecordConverter;
    const polled = new PolledRecords(task, converter, { value: {} } as unknown as Converters, true);
    await polled.take([block(0, 5, 3), block(1, 7, 1), block(0, 8, 2)]);
    await polled.take([block(0, 10, 1), block(1, 8, 1)]);
    const ends = new Map<number, number>();
    await polled.put(({ partition, offset }) => ends.set(partition, offset));
    assert.deepEqual(put, ['0/5', '1/7', '1/8']);
    assert.deepEqual(Object.fromEntries(ends), { 0: 6, 1: 9 });
    assert.equal(polled.failure, reason);
    polled.keep((key) => key !== 't/0');
    assert.equal(polled.failure, undefined, 'the partition is somebody else’s now');
  });
});
