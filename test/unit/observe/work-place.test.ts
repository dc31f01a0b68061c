import assert from 'node:assert/strict';
import { readPlace, TaskPlace, WORK_PLACES_BYTES, workPlaces } from '../../../src/observe/work-place.ts';

/** Where the text of the first slot begins. */
const TEXT_AT = 40;

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

describe('the places of the tasks of a thread', () => {
  let buffer: SharedArrayBuffer;
  let open: TaskPlace[];

  beforeEach(() => {
    buffer = new SharedArrayBuffer(WORK_PLACES_BYTES);
    workPlaces.share(buffer);
    open = [];
  });

  afterEach(() => {
    for (const place of open) place.close();
  });

  function place(task: string): TaskPlace {
    const opened = workPlaces.open(task);
    open.push(opened);
    return opened;
  }

  it('are unknown before a task enters anything', () => {
    assert.equal(readPlace(buffer), undefined);
    place('a-0');
    assert.equal(readPlace(buffer), undefined);
    assert.equal(readPlace(buffer, 'a-0'), undefined);
  });

  it('have the stage and the record of the task that was entered last', () => {
    const [a, b] = [place('a-0'), place('b-0')];
    a.enter('put of 5 records');
    b.enter('conversion of 7 records');
    b.record('orders', 3, 42);
    const last = readPlace(buffer);
    assert.deepEqual(
      [last?.task, last?.stage, last?.record],
      ['b-0', 'conversion of 7 records', { topic: 'orders', partition: 3, from: 42, to: 43 }],
    );
    assert.ok(Math.abs(Date.now() - (last?.sinceMs ?? 0)) < 60_000);
  });

  it('forget the record when the next stage begins', () => {
    const a = place('a-0');
    a.enter('conversion of 5 records');
    a.record('orders', 3, 42);
    a.enter('put of 5 records');
    const { stage, record } = readPlace(buffer) ?? assert.fail();
    assert.deepEqual([stage, record], ['put of 5 records', undefined]);
  });

  it('are unknown once the task has ended, and its slot goes to the next one', () => {
    const a = place('a-0');
    a.enter('poll');
    a.close();
    assert.equal(readPlace(buffer), undefined);
    place('b-0').enter('poll');
    assert.equal(readPlace(buffer)?.task, 'b-0');
    assert.equal(readPlace(buffer, 'a-0'), undefined);
  });

  it('are kept for 64 tasks; further ones share the last', () => {
    const places = Array.from({ length: 70 }, (_, task) => place(`a-${String(task)}`));
    for (const each of places) each.enter('poll');
    assert.equal(readPlace(buffer, 'a-0')?.task, 'a-0');
    assert.equal(readPlace(buffer, 'a-62')?.task, 'a-62');
    assert.equal(readPlace(buffer, 'a-63'), undefined);
    assert.equal(readPlace(buffer, 'a-69')?.task, 'a-69');
    assert.equal(readPlace(buffer)?.task, 'a-69');
  });

  it('are unknown rather than wrong where a text is too long for its slot, and known again with the next', () => {
    const a = place('ä'.repeat(2100));
    a.enter('poll');
    assert.equal(readPlace(buffer), undefined);
    const b = place('b-0');
    b.enter('poll');
    b.record('ö'.repeat(2100), 0, 1);
    assert.equal(readPlace(buffer), undefined);
    b.record('orders', 0, 2);
    assert.deepEqual(readPlace(buffer)?.record, { topic: 'orders', partition: 0, from: 2, to: 3 });
  });

  it('are unknown rather than wrong while they are written', () => {
    const a = place('a-0');
    a.enter('conversion of 5 records');
    const whole = new Uint8Array(buffer).slice();
    // Every way in which the writer may have been interrupted: the text of another place up to some byte, the old one after it.
    a.enter('a much longer stage of 1000 records');
    const next = new Uint8Array(buffer).slice();
    const half = new SharedArrayBuffer(WORK_PLACES_BYTES);
    for (let bytes = 0; bytes < 200; bytes++) {
      new Uint8Array(half).set(whole);
      new Uint8Array(half).set(next.subarray(TEXT_AT, TEXT_AT + bytes), TEXT_AT);
      const read = readPlace(half);
      assert.ok(read === undefined || read.task === 'a-0', JSON.stringify(read));
    }
  });
});
