import assert from 'node:assert/strict';
import type { SinkTask } from '../../../src/connect/api.ts';
import { PolledRecords } from '../../../src/connect/sink/polled-records.ts';
import { RecordCare } from '../../../src/connect/sink/record-care.ts';
import type { TaskCare } from '../../../src/connect/task-assignment.ts';
import { PLAN, type PlannableTransformation } from '../../../src/connect/pipeline/struct-plan.ts';
import type { SinkRecordBlock } from '../../../src/data/message-block.ts';
import { TransformationChain } from '../../../src/connect/pipeline/transformation-chain.ts';
import type { ErrorPolicy, FailureContext } from '../../../src/connect/pipeline/error-policy.ts';
import type { Converters, SinkRecordConverter } from '../../../src/connect/pipeline/record-converter.ts';
import type { RecordBlock, ConsumedRecord } from '../../../src/kafka/api.ts';

function block(partition: number, from: number, count: number): RecordBlock {
  const offsets = Array.from({ length: count }, (_, index) => from + index);
  const record = (index: number) => ({ topic: 't', partition, offset: from + index });
  return { topic: 't', partition, offsets, count, record } as unknown as RecordBlock;
}

function settings(care?: TaskCare, errors = {} as unknown as ErrorPolicy) {
  const converters = { value: {} } as unknown as Converters;
  const hasTransforms = true;
  const chain = new TransformationChain([{ className: 'x', transformation: { apply: (record) => record } }]);
  return { converters, chain, care: new RecordCare(care, { errors, hasTransforms, valueConverter: 'v' }) };
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
    const polled = new PolledRecords(task, converter, settings());
    await polled.take([block(0, 5, 2), block(1, 7, 1)]);
    const ends: string[] = [];
    await polled.put(({ partition, offset }, count) => {
      ends.push(`${String(partition)}: ${String(offset)}, ${String(count)}`);
    });
    assert.deepEqual(put, [5, 6, 7]);
    assert.deepEqual(ends, ['1: 8, 1']);
    assert.equal(polled.count, 0);
  });

  it('count as sent unless a transform dropped them', async () => {
    const converter = {
      convert: (records: readonly ConsumedRecord[]) =>
        Promise.resolve({ records: records.filter(({ offset }) => offset !== 6), failed: undefined }),
    } as unknown as SinkRecordConverter;
    const task = { put: () => Promise.resolve() } as unknown as SinkTask;
    const polled = new PolledRecords(task, converter, settings());
    await polled.take([block(0, 5, 3)]);
    const counts: number[] = [];
    await polled.put((_end, count, sent) => counts.push(count, sent));
    assert.deepEqual(counts, [3, 2]);
  });

  it('before one that cannot be converted are put, as are those of other partitions (L3)', async () => {
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
    const polled = new PolledRecords(task, converter, settings());
    await polled.take([block(0, 5, 3), block(1, 7, 1), block(0, 8, 2)]);
    await polled.take([block(0, 10, 1), block(1, 8, 1)]);
    const ends = new Map<number, number>();
    await polled.put(({ partition, offset }) => ends.set(partition, offset));
    assert.deepEqual(put, ['0/5', '1/7', '1/8']);
    assert.deepEqual(Object.fromEntries(ends), { 0: 6, 1: 9 });
    assert.equal(polled.failure, reason);
    polled.keep((key) => key !== 't/0');
    assert.equal(polled.failure, undefined, 'the partition belongs to another task now');
  });

  it('wait for the schema of a key, so that even the first block is read in place', async () => {
    const steps: string[] = [];
    const key = {
      prepareToConnectData: (_topic: string, bytes: Uint8Array) => {
        if (steps.length > 0) return undefined;
        return Promise.resolve().then(() => void steps.push(`fetched for ${String(bytes)}`));
      },
      toConnectData: (_topic: string, bytes: Uint8Array) => void steps.push(`converted ${String(bytes)}`),
    };
    const converters = { key, value: { readStructs: () => 0 } } as unknown as Converters;
    const task = {
      putBlock: () => {
        steps.push('put');
        return Promise.resolve();
      },
    } as unknown as SinkTask;
    const converter = {} as unknown as SinkRecordConverter;
    const polled = new PolledRecords(task, converter, {
      ...settings(),
      chain: new TransformationChain([]),
      converters,
    });
    const keyOf = (index: number) => Buffer.from(`k${String(index)}`);
    await polled.take([Object.assign(block(0, 5, 2), { key: keyOf, headers: () => [] })]);
    await polled.put(() => undefined);
    assert.deepEqual(steps, ['fetched for k0', 'converted k0', 'converted k1', 'put']);
  });

  const suspect = (from: number, to: number) => ({ topic: 't', partition: 0, from, to });
  const poison = (offset: number) => {
    return {
      topic: 't',
      partition: 0,
      offset,
      stage: 'put',
      message: 'two ends',
      stack: '    at loop (x.js:1:1)',
    } as const;
  };
  const plain = {
    convert: (records: readonly ConsumedRecord[]) => Promise.resolve({ records, failed: undefined }),
  } as unknown as SinkRecordConverter;

  /** Resolves with the offsets that were passed to each call of `put`. */
  async function putAll(polled: PolledRecords, puts: number[][], onPut: (end: number) => void): Promise<string[]> {
    const said: string[] = [];
    while (!polled.isEmpty) {
      const { count, ranges } = polled.next();
      const texts = ranges.map(({ from, to }) => `${String(from)}-${String(to)}`);
      said.push(`${String(count)}: ${texts.join()}${polled.isCareful ? ' with care' : ''}`);
      await polled.put(({ offset }) => {
        onPut(offset);
      });
    }
    assert.equal(puts.length, said.length);
    return said;
  }

  function recording(puts: number[][]): SinkTask {
    return {
      put: (records: readonly ConsumedRecord[]) => {
        puts.push(records.map(({ offset }) => offset));
        return Promise.resolve();
      },
    } as unknown as SinkTask;
  }

  it('go to a task in blocks behind transforms that can be planned, and as records behind others', async () => {
    const chainOf = (transformation: PlannableTransformation) =>
      new TransformationChain([{ className: 'x', transformation }]);
    const apply = <R>(record: R): R => record;
    for (const [chain, expected] of [
      [chainOf({ apply, [PLAN]: () => true }), ['block of 2']],
      [chainOf({ apply }), ['2 records']],
      [new TransformationChain([]), ['block of 2']],
    ] as const) {
      const calls: string[] = [];
      const task = {
        put: ({ length }: readonly unknown[]) => Promise.resolve(calls.push(`${String(length)} records`)),
        putBlock: ({ messages }: SinkRecordBlock) => Promise.resolve(calls.push(`block of ${String(messages.count)}`)),
      } as unknown as SinkTask;
      const converters = { value: { readStructs: () => 0 }, key: { passesMessages: true } } as unknown as Converters;
      const polled = new PolledRecords(task, plain, { ...settings(), chain, converters });
      await polled.take([block(0, 5, 2)]);
      await polled.put(() => undefined);
      assert.deepEqual(calls, expected);
    }
  });

  it('are put one at a time where one of them may have ended a thread, and together before and after', async () => {
    const puts: number[][] = [];
    const polled = new PolledRecords(recording(puts), plain, settings({ suspects: [suspect(7, 9)], poisoned: [] }));
    await polled.take([block(0, 5, 6)]);
    const ends: number[] = [];
    const said = await putAll(polled, puts, (end) => ends.push(end));
    assert.deepEqual(puts, [[5, 6], [7], [8], [9, 10]]);
    assert.deepEqual(said, ['2: 5-7', '1: 7-8 with care', '1: 8-9 with care', '2: 9-11']);
    assert.deepEqual(ends, [7, 8, 9, 11]);
    assert.equal(polled.care.pass({ topic: 't', partition: 0, offset: 8 }), false);
    assert.equal(polled.care.pass({ topic: 't', partition: 0, offset: 9 }), true);
    assert.equal(polled.care.concerns(block(0, 5, 6)), false, 'what is committed needs no care any more');
  });

  it('of many suspects are put in a thousand steps at most', async () => {
    const puts: number[][] = [];
    const polled = new PolledRecords(recording(puts), plain, settings({ suspects: [suspect(0, 2500)], poisoned: [] }));
    await polled.take([block(0, 0, 999), block(0, 999, 1501)]);
    await putAll(polled, puts, () => undefined);
    assert.equal(puts.length, 834);
    assert.deepEqual(puts[0], [0, 1, 2]);
    assert.deepEqual(
      puts.flat(),
      Array.from({ length: 2500 }, (_, offset) => offset),
    );
  });

  it('that ended threads are given to the error policy, with the stack, and not to the task', async () => {
    const failures: FailureContext[] = [];
    const errors = {
      failed: (failure: FailureContext) => {
        failures.push(failure);
        return Promise.resolve();
      },
    } as unknown as ErrorPolicy;
    const puts: number[][] = [];
    const polled = new PolledRecords(recording(puts), plain, settings({ suspects: [], poisoned: [poison(6)] }, errors));
    await polled.take([block(0, 5, 3)]);
    const ends: number[] = [];
    await putAll(polled, puts, (end) => ends.push(end));
    assert.deepEqual(puts, [[5], [], [7]]);
    assert.deepEqual(ends, [6, 7, 8]);
    const [failure] = failures;
    assert.equal(failures.length, 1);
    assert.deepEqual([failure?.stage, failure?.consumed?.offset], ['TASK_PUT', 6]);
    assert.equal(failure?.error.stack, 'ConnectError: two ends\n    at loop (x.js:1:1)');
  });

  it('end their partition at one that ended threads where the error policy does not skip it', async () => {
    const reason = new Error('no');
    const errors = { failed: () => Promise.reject(reason) } as unknown as ErrorPolicy;
    const puts: number[][] = [];
    const polled = new PolledRecords(recording(puts), plain, settings({ suspects: [], poisoned: [poison(6)] }, errors));
    await polled.take([block(0, 5, 3)]);
    const ends: number[] = [];
    await putAll(polled, puts, (end) => ends.push(end));
    assert.deepEqual(puts.flat(), [5]);
    assert.equal(ends.at(-1), 6);
    assert.equal(polled.failure, reason);
  });
});
