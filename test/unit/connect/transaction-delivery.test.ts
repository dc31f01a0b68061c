import assert from 'node:assert/strict';
import { TransactionRequests } from '../../../src/connect/source/transaction-requests.ts';
import type { SourceBlock } from '../../../src/connect/api.ts';
import { RecordPacker } from '../../../src/data/packed-records.ts';
import { Schema } from '../../../src/data/schema.ts';
import { SluiceError, toError } from '../../../src/errors.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { KafkaError } from '../../../src/kafka/errors/kafka-errors.ts';
import { until } from '../../support/until.ts';
import { source, SourceBench, valueOf } from './source-fakes.ts';

const POLL = { kind: 'poll' } as const;

describe('delivery of source records exactly once', () => {
  it('takes over the transactional id before the task starts, and after older tasks are fenced', async () => {
    const order: string[] = [];
    const fenceZombies = async () => {
      order.push('fence', ...bench.producer.asked);
      await Promise.resolve();
    };
    const bench: SourceBench = new SourceBench({ boundary: POLL, fenceZombies });
    const running = bench.runner.run();
    await until(() => bench.task.told.includes('start'), 'it started');
    assert.deepEqual(order, ['fence']);
    assert.deepEqual(bench.producer.asked, ['connect', 'init']);
    bench.runner.stop();
    await running;
  });

  it('does not initialize it if the task was stopped before', async () => {
    let fenced: () => void = () => undefined;
    const bench = new SourceBench({ boundary: POLL, fenceZombies: () => new Promise((resolve) => (fenced = resolve)) });
    const running = bench.runner.run();
    bench.runner.stop();
    fenced();
    await running;
    assert.ok(!bench.producer.asked.includes('init'));
    assert.ok(!bench.task.told.includes('start'));
  });

  it('fails when older tasks cannot be fenced', async () => {
    const bench = new SourceBench({ boundary: POLL, fenceZombies: () => Promise.reject(new Error('no leader')) });
    await assert.rejects(bench.runner.run(), /no leader/);
    assert.deepEqual(bench.task.told, ['stop']);
  });

  it('writes the records of a poll and their offsets in one transaction', async () => {
    const bench = new SourceBench({ boundary: POLL });
    bench.task.polls.push([source(1), source(2), source(9, 'u')]);
    const running = bench.runner.run();
    await until(() => bench.task.told.includes('commit'), 'it is committed');
    assert.deepEqual(bench.producer.asked.slice(2), ['begin', 'topic 1,2,9', 'offsets {"n":2},{"n":9}', 'commit']);
    assert.deepEqual(bench.task.told, ['start', 'record 1', 'record 2', 'record 9', 'commit']);
    assert.equal(bench.delivered, 3);
    bench.runner.stop();
    await running;
  });

  it('notifies a source that only wants to know of blocks', async () => {
    const bench = new SourceBench({ boundary: POLL });
    const packer = new RecordPacker('topic', 100);
    packer.add(null, Buffer.from('1'));
    const [packed] = packer.take();
    assert.ok(packed);
    const blocks: SourceBlock[] = [];
    Object.assign(bench.task, { commitRecord: undefined, commitBlock: (block: SourceBlock) => blocks.push(block) });
    const schema = new Schema('string');
    const offsets = { sourcePartition: { table: 't' }, offsetBefore: { n: 0 }, offsetAfter: { n: 3 } };
    bench.task.block = { packed, keySchema: schema, valueSchema: schema, ...offsets };
    const running = bench.runner.run();
    await until(() => bench.task.told.includes('commit'), 'it is committed');
    assert.deepEqual(blocks[0]?.offsetAfter, { n: 3 });
    bench.runner.stop();
    await running;
  });

  it('stores an offset update in its turn, in a transaction without a record if there is none', async () => {
    const bench = new SourceBench({ boundary: POLL });
    bench.task.polls.push([source(1), { sourcePartition: { table: 't' }, sourceOffset: { n: 5 } }]);
    const running = bench.runner.run();
    await until(() => bench.task.told.includes('commit'), 'the first is committed');
    bench.task.polls.push([{ sourcePartition: { table: 't' }, sourceOffset: { n: 8 } }]);
    await until(() => bench.task.told.filter((each) => each === 'commit').length === 2, 'the second is committed');
    const transactions = bench.producer.asked.slice(2);
    assert.deepEqual(transactions, [
      'begin',
      'topic 1',
      'offsets {"n":5}',
      'commit',
      'begin',
      'offsets {"n":8}',
      'commit',
    ]);
    const told = ['start', 'record 1', 'offset {"n":5}', 'commit', 'offset {"n":8}', 'commit'];
    assert.deepEqual(bench.task.told, told);
    assert.deepEqual([bench.polled, bench.delivered], [1, 1], 'an offset update is not a record');
    bench.runner.stop();
    await running;
  });

  it('delivers dead letters in place of records that fail, in the same transaction', async () => {
    const bench = new SourceBench({ boundary: POLL, tolerance: 'all', deadLetterTopic: 'letters' });
    bench.producer.maxBytes = 10;
    const failed = { error: new Error('no type'), topic: 'topic', sourcePartition: { table: 't' }, content: 'row' };
    const records = [source(1), source(2, 't', 'poison'), source(3, 't', 'x'.repeat(20))];
    bench.task.polls.push([...records, { ...failed, sourceOffset: { n: 4 } }]);
    const running = bench.runner.run();
    await until(() => bench.task.told.includes('commit'), 'it is committed');
    const row = (value: string) => `{"key":null,"value":"${value}"}`;
    const sent = `topic 1,${row('poison')},${row('x'.repeat(20))},row`;
    assert.deepEqual(bench.producer.asked.slice(2), ['begin', sent, 'offsets {"n":4}', 'commit']);
    const letters = bench.producer.sent.slice(1, 4);
    const header = (name: string) =>
      letters.map(({ headers }) => headers.find(({ key }) => key === name)?.value?.toString());
    assert.deepEqual(
      letters.map(({ topic }) => topic),
      ['letters', 'letters', 'letters'],
    );
    assert.deepEqual(header('__connect.errors.stage'), ['VALUE_CONVERTER', 'KAFKA_PRODUCE', 'TASK_POLL']);
    assert.deepEqual(header('__connect.errors.exception.message'), ['poison', 'it is too large', 'no type']);
    assert.deepEqual(header('__connect.errors.topic'), ['topic', 'topic', 'topic']);
    assert.deepEqual(header('sluice.source.offset'), ['{"n":2}', '{"n":3}', '{"n":4}']);
    bench.runner.stop();
    await running;
  });

  it('fails at a record that the task could not make, without tolerance', async () => {
    const bench = new SourceBench({ boundary: POLL });
    const failed = { error: new Error('no type'), topic: 'topic', sourcePartition: { table: 't' }, content: null };
    bench.task.polls.push([{ ...failed, sourceOffset: { n: 1 } }]);
    const error = await bench.runner.run().then(() => undefined, toError);
    assert.equal(error?.message, 'Tolerance exceeded in error handler');
    assert.equal((error.cause as Error).message, 'no type');
    assert.ok(!bench.producer.asked.includes('commit'));
  });

  it('joins polls that waited for a transaction, whole, in the next', async () => {
    const bench = new SourceBench({ boundary: POLL });
    let open: () => void = () => undefined;
    bench.producer.gate = new Promise((resolve) => (open = resolve));
    bench.task.polls.push([source(1)], [source(2), source(3)], [source(4)]);
    const running = bench.runner.run();
    await until(() => bench.polled === 4, 'all are polled');
    open();
    await until(() => bench.delivered === 4, 'all are delivered');
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.producer.asked.slice(2), [
      'begin',
      'topic 1',
      'offsets {"n":1}',
      'commit',
      'begin',
      'topic 2,3,4',
      'offsets {"n":4}',
      'commit',
    ]);
  });

  it('stores offsets of records that were left out', async () => {
    const bench = new SourceBench({ boundary: POLL, tolerance: 'all' });
    bench.task.polls.push([source(1, 't', 'poison')]);
    const running = bench.runner.run();
    await until(() => bench.task.told.includes('commit'), 'it is committed');
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.producer.asked.slice(2), ['begin', 'offsets {"n":1}', 'commit']);
  });

  it('fails with Java’s text when a record is refused, and aborts; tolerance does not help', async () => {
    const bench = new SourceBench({ boundary: POLL, tolerance: 'all' });
    bench.producer.failing = (value) =>
      value === '2' ? new KafkaError(ErrorCode.messageTooLarge, 'it is too large') : undefined;
    bench.producer.commitFailure = new Error('a record failed');
    bench.task.polls.push([source(1), source(2)]);
    const error = await bench.runner.run().catch(toError);
    assert.equal(error?.message, 'Failed to flush offsets and/or records for task c-0');
    assert.equal((error?.cause as Error).message, 'row 2: it is too large');
    assert.equal(bench.producer.asked.at(-1), 'abort');
    assert.ok(!bench.task.told.includes('commit'));
  });

  it('explains what to do about a transaction that timed out', async () => {
    const bench = new SourceBench({ boundary: POLL });
    bench.producer.commitFailure = KafkaError.ofCode(ErrorCode.invalidProducerEpoch, 'Topic topic');
    bench.task.polls.push([source(1)]);
    await assert.rejects(
      bench.runner.run(),
      /^ConnectError: The task c-0 was unable to finish writing records to Kafka before its producer transaction expired\. It may be necessary/,
    );
  });

  it('commits at an interval, and on pause or stop if a transaction is open', async () => {
    const bench = new SourceBench({ boundary: { kind: 'interval', intervalMs: 300 } });
    bench.task.polls.push([source(1)]);
    const running = bench.runner.run();
    await until(() => bench.producer.asked.includes('topic 1'), 'it is sent');
    assert.ok(!bench.producer.asked.includes('commit'));
    await until(() => bench.producer.asked.includes('commit'), 'it is committed');
    bench.task.polls.push([source(2)], [source(3)]);
    await until(() => bench.polled === 3, 'they are polled');
    bench.runner.pause();
    await until(() => bench.delivered === 3, 'the pause commits');
    bench.runner.resume();
    bench.task.polls.push([source(4)]);
    await until(() => bench.polled === 4, 'it is polled');
    bench.runner.stop();
    await running;
    assert.equal(bench.delivered, 4);
    assert.equal(bench.producer.asked.at(-1), 'commit');
    assert.equal(
      bench.producer.asked.filter((each) => each === 'begin').length,
      bench.producer.asked.filter((each) => each === 'commit').length,
    );
  });

  it('delivers what was polled before the task failed', async () => {
    const bench = new SourceBench({ boundary: POLL });
    bench.task.polls.push([source(1)], new Error('broken'));
    await assert.rejects(bench.runner.run(), /broken/);
    assert.equal(bench.delivered, 1);
  });

  it('aborts a transaction that is open when the task has failed', async () => {
    const bench = new SourceBench({ boundary: { kind: 'interval', intervalMs: 60_000 } });
    bench.task.polls.push([source(1)], new Error('broken'));
    await assert.rejects(bench.runner.run(), /broken/);
    assert.deepEqual(bench.producer.asked.slice(2), ['begin', 'topic 1', 'abort']);
    assert.equal(bench.delivered, 0);
  });

  it('lets the task end transactions: after records, after polls, and by abort, which stores offsets alone', async () => {
    const bench = new SourceBench({ boundary: { kind: 'connector', requests: new TransactionRequests() } });
    const polls = [[source(1), source(2), source(3)], [source(4)], [source(5), source(6)], [source(7)]];
    bench.task.onPoll = (records) => {
      const { transactions } = bench.task;
      const [first] = records;
      if (first === polls[0]?.[0]) transactions?.commit(records[1]);
      if (first === polls[1]?.[0]) transactions?.commit();
      if (first === polls[2]?.[0]) transactions?.abort(records[0]);
    };
    const running = bench.runner.run();
    for (const [index, poll] of polls.entries()) {
      bench.task.polls.push(poll);
      const last = poll.map(valueOf).at(-1) ?? '';
      await until(() => bench.producer.asked.some((each) => each.endsWith(last)), `poll ${String(index)} is sent`);
    }
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.producer.asked.slice(2), [
      'begin',
      'topic 1,2',
      'offsets {"n":2}',
      'commit',
      'begin',
      'topic 3',
      'topic 4',
      'offsets {"n":4}',
      'commit',
      'begin',
      'topic 5',
      'abort',
      'begin',
      'offsets {"n":5}',
      'commit',
      'begin',
      'topic 6',
      'topic 7',
      'abort',
    ]);
    const values = bench.runtime.measures.source.values();
    assert.deepEqual([values['transaction-size-max'], values['transaction-size-min']], [2, 0]);
    assert.equal(bench.delivered, 4, 'aborted records are not counted');
  });

  it('fails without a commit if an abort that the task requested fails', async () => {
    const bench = new SourceBench({ boundary: { kind: 'connector', requests: new TransactionRequests() } });
    bench.task.onPoll = () => bench.task.transactions?.abort();
    bench.producer.abortFailure = new Error('the coordinator does not answer');
    bench.task.polls.push([source(1)]);
    const error = await bench.runner.run().then(() => undefined, toError);
    assert.equal(error?.message, 'Failed to flush offsets and/or records for task c-0');
    assert.equal((error.cause as Error).message, 'the coordinator does not answer');
    assert.deepEqual(bench.producer.asked.slice(2), ['begin', 'topic 1', 'abort', 'abort']);
  });

  it('refuses records for its own offsets topic', async () => {
    const bench = new SourceBench({ boundary: POLL });
    bench.task.polls.push([{ ...source(1), topic: 'offsets' }]);
    const error = await bench.runner.run().catch(toError);
    assert.ok(error instanceof SluiceError);
    assert.equal(
      error.message,
      'Source tasks may not produce to their own offsets topics when exactly-once support is enabled',
    );
  });
});
