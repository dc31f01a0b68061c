import assert from 'node:assert/strict';
import { RecordPacker } from '../../../src/data/packed-records.ts';
import { Schema } from '../../../src/data/schema.ts';
import { RetriableError, SluiceError, toError } from '../../../src/errors.ts';
import { ErrorCode } from '../../../src/kafka/errors/error-codes.ts';
import { KafkaError } from '../../../src/kafka/errors/kafka-errors.ts';
import { until } from '../../support/until.ts';
import { source, SourceBench } from './source-fakes.ts';

const OFFSET_T = '"table":"t"';
const tooLarge = () => new KafkaError(ErrorCode.messageTooLarge, 'it is too large');

/** The reason for which the task failed. */
async function failure(running: Promise<void>): Promise<SluiceError> {
  const error = await running.then(
    () => undefined,
    (thrown: unknown) => toError(thrown),
  );
  assert.ok(error instanceof SluiceError);
  return error;
}

describe('delivery of source records at least once', () => {
  it('stores offsets of acknowledged records only, and notifies the task of both', async () => {
    const bench = new SourceBench();
    let open: () => void = () => undefined;
    bench.producer.gate = new Promise((resolve) => (open = resolve));
    bench.task.polls.push([source(1), source(2), source(7, 'u')]);
    const running = bench.runner.run();
    await until(() => bench.producer.asked.includes('topic 1,2,7'), 'they are sent');
    await until(() => bench.task.told.filter((each) => each === 'commit').length > 2, 'some commits have passed');
    assert.equal(bench.offsets.stored.size, 0);
    open();
    await until(() => bench.offsets.stored.size === 2, 'offsets are stored');
    bench.runner.stop();
    await running;
    assert.deepEqual(Object.fromEntries(bench.offsets.stored), { [OFFSET_T]: { n: 2 }, '"table":"u"': { n: 7 } });
    const records = bench.task.told.filter((each) => each.startsWith('record'));
    assert.deepEqual(records, ['record 1', 'record 2', 'record 7']);
    assert.equal(bench.task.told.at(-1), 'stop');
    assert.deepEqual(bench.states, ['RUNNING', 'READY']);
    assert.ok(bench.producer.isClosed);
  });

  it('sends the dead letter of a record that the broker refuses before its offset is stored', async () => {
    const bench = new SourceBench({ tolerance: 'all', deadLetterTopic: 'letters' });
    bench.producer.failing = (value, topic) => (topic === 'topic' && value === '2' ? tooLarge() : undefined);
    bench.task.polls.push([source(1), source(2)]);
    const running = bench.runner.run();
    await until(() => bench.offsets.stored.size === 1, 'the offset is stored');
    bench.runner.stop();
    await running;
    assert.deepEqual(
      bench.producer.sent.map(({ topic }) => topic),
      ['topic', 'topic', 'letters'],
    );
    assert.equal(bench.runtime.deadLetters?.produceRequests, 1);
  });

  it('sends the dead letter of a record of a block', async () => {
    const bench = new SourceBench({ tolerance: 'all', deadLetterTopic: 'letters' });
    bench.producer.failing = (value, topic) => (topic === 'topic' && value === '2' ? tooLarge() : undefined);
    const packer = new RecordPacker('topic', 100);
    for (const value of ['1', '2', '3']) packer.add(null, Buffer.from(value));
    const [packed] = packer.take();
    assert.ok(packed);
    const schema = new Schema('string');
    const offsets = { sourcePartition: { table: 't' }, offsetBefore: { n: 0 }, offsetAfter: { n: 3 } };
    bench.task.block = { packed, keySchema: schema, valueSchema: schema, ...offsets };
    const running = bench.runner.run();
    await until(() => bench.offsets.stored.size === 1, 'the offset is stored');
    bench.runner.stop();
    await running;
    const letter = bench.producer.sent.find(({ topic }) => topic === 'letters');
    assert.equal(Buffer.from(letter?.value ?? '').toString(), '{"key":null,"value":"2"}');
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 3 });
    assert.equal(bench.task.json, undefined, 'the task is not asked for blocks of JSON');
  });

  it('stores an offset update that has no record', async () => {
    const bench = new SourceBench();
    bench.task.polls.push([{ sourcePartition: { table: 't' }, sourceOffset: { n: 5 } }]);
    const running = bench.runner.run();
    await until(() => bench.offsets.stored.size === 1, 'the offset is stored');
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 5 });
    assert.ok(bench.task.told.includes('offset {"n":5}'));
  });

  it('stores the last offsets when it is stopped, after the records in flight', async () => {
    const bench = new SourceBench({ flushIntervalMs: 60_000 });
    bench.task.polls.push([source(1)], [source(2)]);
    const running = bench.runner.run();
    await until(() => bench.delivered === 2, 'both are delivered');
    assert.equal(bench.offsets.stored.size, 0);
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 2 });
  });

  it('fails with Java’s text when a record is refused, with the offsets before it stored', async () => {
    const bench = new SourceBench();
    bench.producer.failing = (value) => (value === '3' ? tooLarge() : undefined);
    bench.task.polls.push([source(1)], [source(2), source(3), source(4), source(9, 'u')]);
    const error = await failure(bench.runner.run());
    assert.equal(error.message, 'Unrecoverable exception from producer send callback');
    assert.equal((error.cause as Error).message, 'row 3: it is too large', 'the task says which row it is');
    assert.match((error.cause as SluiceError).javaName, /RecordTooLargeException/);
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 2 });
    assert.deepEqual(bench.offsets.stored.get('"table":"u"'), { n: 9 });
    assert.deepEqual(bench.messages(50), [
      'WorkerSourceTask{id=c-0} failed to send record to topic: row 3: it is too large',
    ]);
  });

  it('leaves refused records out where errors are tolerated, and counts them as done', async () => {
    const bench = new SourceBench({ tolerance: 'all' });
    bench.producer.failing = (value) => (value === '2' || value === '3' ? tooLarge() : undefined);
    bench.task.polls.push([source(1), source(2), source(3), source(4)], [source(5)]);
    const running = bench.runner.run();
    await until(() => bench.delivered === 3, 'the others are delivered');
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 5 });
    assert.equal(bench.runtime.errors.counts.skipped, 2);
    const told = bench.task.told.filter((each) => each.startsWith('record'));
    assert.deepEqual(told, ['record 1', 'record 2', 'record 3', 'record 4', 'record 5']);
    const executed = bench.messages(50).filter((line) => line.includes("Executing stage 'KAFKA_PRODUCE'"));
    assert.equal(executed.length, 2);
  });

  it('counts records that cannot be converted as done where errors are tolerated', async () => {
    const bench = new SourceBench({ tolerance: 'all' });
    bench.task.polls.push([source(1), source(2, 't', 'poison')]);
    const running = bench.runner.run();
    await until(() => bench.offsets.stored.size === 1, 'the offset is stored');
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 2 });
    assert.deepEqual(
      bench.producer.asked.filter((each) => each.startsWith('topic')),
      ['topic 1'],
    );
  });

  it('retries offsets that could not be stored, and survives a task that throws in commit or commitRecord', async () => {
    const bench = new SourceBench();
    bench.offsets.failure = new Error('the offsets topic is unreachable');
    bench.task.commitFailure = new Error('commit');
    bench.task.polls.push([source(1), source(2, 't', 'throws')]);
    const running = bench.runner.run();
    await until(
      () => bench.messages(50).filter((each) => each.startsWith('Failed to flush offsets')).length > 1,
      'twice',
    );
    bench.offsets.failure = undefined;
    await until(() => bench.offsets.stored.size === 1, 'the offset is stored');
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 2 });
    assert.ok(bench.messages(50).includes('Exception thrown while calling task.commitRecord()'));
    assert.ok(bench.messages(50).includes('Exception thrown while calling task.commit()'));
  });

  it('logs a timeout of an offset flush, and continues', async () => {
    const bench = new SourceBench();
    const write = bench.offsets.write.bind(bench.offsets);
    bench.offsets.write = () => new Promise(() => undefined);
    bench.task.polls.push([source(1)]);
    const running = bench.runner.run();
    const text =
      'Timed out waiting to flush offsets to storage; will try again on next flush interval with latest offsets';
    await until(() => bench.messages(50).includes(text), 'it is said');
    bench.offsets.write = write;
    await until(() => bench.offsets.stored.size === 1, 'the offset is stored');
    bench.runner.stop();
    await running;
  });

  it('polls again after a RetriableError, and fails of any other', async () => {
    const bench = new SourceBench();
    bench.task.polls.push(new RetriableError('later'), [source(1)], new Error('broken'));
    const error = await bench.runner.run().catch(toError);
    assert.equal(error?.message, 'broken');
    assert.deepEqual(bench.offsets.stored.get(OFFSET_T), { n: 1 });
    assert.deepEqual(bench.messages(40), ['poll() of the task failed; retrying']);
  });

  it('delivers while it is paused what was polled before, and polls no more until it is resumed', async () => {
    const bench = new SourceBench();
    const running = bench.runner.run();
    bench.task.polls.push([source(1)]);
    await until(() => bench.delivered === 1, 'it runs');
    bench.runner.pause();
    await until(() => bench.states.includes('PAUSED'), 'it is paused');
    bench.task.polls.push([source(2)]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(bench.polled, 1);
    bench.runner.resume();
    await until(() => bench.delivered === 2, 'it continues');
    bench.runner.stop();
    await running;
    assert.deepEqual(bench.states, ['RUNNING', 'READY', 'PAUSED', 'RUNNING']);
  });

  it('fails although it is paused, or has nothing to poll', async () => {
    const bench = new SourceBench();
    let open: () => void = () => undefined;
    bench.producer.gate = new Promise((resolve) => (open = resolve));
    bench.producer.failing = tooLarge;
    bench.task.polls.push([source(1)]);
    const running = failure(bench.runner.run());
    await until(() => bench.producer.asked.includes('topic 1'), 'it is sent');
    bench.runner.pause();
    await until(() => bench.states.includes('PAUSED'), 'it is paused');
    open();
    assert.match((await running).message, /Unrecoverable exception/);
  });

  it('sends waiting records together, in order, one batch at a time', async () => {
    const bench = new SourceBench();
    let open: () => void = () => undefined;
    bench.producer.gate = new Promise((resolve) => (open = resolve));
    bench.task.polls.push([source(1)], [source(2)], [source(3), source(4)]);
    const running = bench.runner.run();
    await until(() => bench.polled === 4, 'all are polled');
    assert.deepEqual(bench.producer.asked, ['connect', 'topic 1']);
    open();
    await until(() => bench.delivered === 4, 'all are delivered');
    assert.deepEqual(bench.producer.asked, ['connect', 'topic 1', 'topic 2,3,4']);
    bench.runner.stop();
    await running;
  });

  describe('when the task is stopped in a poll', () => {
    async function stoppedWith(failureOf: (reason: unknown) => Error): Promise<readonly (readonly [number, string])[]> {
      const bench = new SourceBench();
      const { signal } = bench.runtime.abort;
      let polled = false;
      bench.task.poll = () =>
        new Promise((_, reject) => {
          polled = true;
          signal.addEventListener('abort', () => {
            reject(failureOf(signal.reason));
          });
        });
      const running = bench.runner.run();
      await until(() => polled, 'it polls');
      bench.runner.stop();
      await running;
      return bench.log.filter(({ err }) => err !== undefined).map(({ level, msg }) => [level, msg] as const);
    }

    it('does not warn of work that the stop itself cancelled', async () => {
      const logged = await stoppedWith((cause) => new Error('the statement was cancelled', { cause }));
      assert.deepEqual(logged, [[20, 'The stop of the task cancelled its current work']]);
    });

    it('warns of another failure', async () => {
      const logged = await stoppedWith(() => new Error('the table is gone'));
      assert.deepEqual(logged, [[40, 'After being scheduled for shutdown, the task threw an uncaught exception']]);
    });
  });
});
