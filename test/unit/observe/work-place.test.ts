import assert from 'node:assert/strict';
import { readPlace, TaskPlace, WORK_PLACES_BYTES } from '../../../src/observe/work-place.ts';

describe('the place of a task', () => {
  const buffer = new SharedArrayBuffer(WORK_PLACES_BYTES);
  const open = (task: string, slot: number) => new TaskPlace(task, slot, buffer, () => undefined);
  const range = (partition: number) => ({ topic: 'orders', partition, from: 5, to: 10 });

  it('is its own, whatever other tasks of the thread do', () => {
    const one = open('one-0', 0);
    const two = open('two-0', 1);
    one.enter('conversion');
    one.record('orders', 3, 42);
    two.enter('put of 5 records', [range(1)]);
    assert.deepEqual(readPlace(buffer, 'one-0')?.record, { topic: 'orders', partition: 3, from: 42, to: 43 });
    const last = readPlace(buffer);
    assert.deepEqual(
      [last?.task, last?.stage, last?.ranges, last?.record],
      ['two-0', 'put of 5 records', [range(1)], undefined],
    );
    one.record('payments', 0, 7);
    assert.deepEqual(readPlace(buffer)?.record, { topic: 'payments', partition: 0, from: 7, to: 8 });
    one.leaveRecord();
    assert.equal(readPlace(buffer, 'one-0')?.record, undefined);
    one.close();
    assert.equal(readPlace(buffer, 'one-0'), undefined);
    two.close();
  });

  it('names the last of many partitions, as far as there is room', () => {
    const place = open('c-0', 2);
    place.enter(
      'put of 900 records',
      Array.from({ length: 900 }, (_, partition) => range(partition)),
    );
    const ranges = readPlace(buffer, 'c-0')?.ranges ?? [];
    assert.ok(ranges.length >= 30 && ranges.length < 900, String(ranges.length));
    assert.deepEqual(ranges.at(-1), range(899));
    place.close();
  });
});
