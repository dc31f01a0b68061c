import assert from 'node:assert/strict';
import { exactText, parseExact } from '../../src/common/exact-json.ts';
import { offsetText, readOffset, sinkRows, totals, writtenOffset } from '../../src/connector/offset-rows.ts';
import { stepsFrom, takeSteps, type ChangeReport } from '../../src/connector/offset-steps.ts';

const partition = (number: number) => ({ kafka_topic: 'orders', kafka_partition: number });
const at = (offset: number) => ({ kafka_offset: offset });
const previewed = (offset: number, skipped: number, again = 0) => ({
  note: '',
  partitions: [{ partition: partition(0), current: at(4), offset: at(offset), again, skipped }],
});

describe('JSON of offsets in the console', () => {
  it('keeps every digit of integers, and texts as they are', () => {
    const text =
      '{"a":9007199254740993,"b":-9223372036854775808,"c":"9007199254740993","d":[1,2.5],"e":"\\"12345678901234567890"}';
    assert.equal(exactText(parseExact(text)), text);
    assert.equal((parseExact(text) as { a: unknown }).a, 9007199254740993n);
  });
});

describe('offsets in the console', () => {
  it('of a sink have first, position, end and lag', () => {
    assert.deepEqual(sinkRows(previewed(1, 0, 3), previewed(9, 5)), [
      { key: 'orders-0', partition: partition(0), current: at(4), first: at(1), end: at(9), lag: 5 },
    ]);
  });

  it('are shown as numbers and times', () => {
    assert.equal(offsetText(at(4)), '4');
    assert.equal(offsetText({ incrementing: 9007199254740993n }), '9007199254740993');
    assert.equal(offsetText({ timestamp_us: 1_700_000_000_000_001, key: '["a"]' }), '2023-11-14 22:13:20.000001 UTC');
    assert.equal(offsetText({ timestamp_us: -1 }), '1969-12-31 23:59:59.999999 UTC');
    assert.equal(offsetText({ position: 'x' }), '{"position":"x"}');
    assert.equal(offsetText(null), undefined);
  });

  it('are parsed as they are written', () => {
    const ofSink = { key: 'orders-0', partition: partition(0), current: at(4) };
    const ofTable = { key: 'public.a', partition: { table: 'public.a' }, current: { incrementing: 7, key: '["7"]' } };
    assert.deepEqual(readOffset(' 12 ', ofSink)?.offset, at(12));
    assert.equal(readOffset('-1', ofSink), undefined);
    assert.equal(readOffset('{"kafka_offset":1}', ofSink), undefined);
    assert.deepEqual(readOffset('9007199254740993', ofTable)?.offset, { incrementing: 9007199254740993n });
    assert.deepEqual(readOffset('{"timestamp_us":1}', ofTable)?.offset, { timestamp_us: 1 });
    assert.equal(readOffset('[1]', ofTable), undefined);
    assert.equal(readOffset('soon', ofTable), undefined);
    assert.equal(writtenOffset(ofTable.current), '7');
  });

  it('are summed up without those that are left out; unknown counts stay unknown', () => {
    const preview = {
      note: '',
      partitions: [
        { partition: partition(0), current: at(4), offset: at(0), again: 4, skipped: 0 },
        { partition: partition(1), current: null, offset: at(0), again: null, skipped: 0 },
      ],
    };
    assert.equal(totals(preview, new Set()).again, null);
    const without = totals(preview, new Set(['orders-1']));
    assert.deepEqual([without.again, without.skipped], [4, 0]);
    assert.deepEqual(without.entries, [{ partition: partition(0), offset: at(0) }]);
  });
});

describe('steps of a change of offsets', () => {
  const changes = [{ partition: partition(0), offset: at(0) }];
  const silent = (): void => undefined;

  /** Answers of the worker in turn; a text is that of an error. */
  function worker(answers: readonly (string | undefined)[]) {
    const asked: string[] = [];
    const send = async (method: string, path: string, json = ''): Promise<void> => {
      const answer = answers[asked.length];
      asked.push(`${method} ${path} ${json}`.trim());
      if (answer !== undefined) throw new Error(answer);
      return Promise.resolve();
    };
    return { asked, send };
  }

  it('leave a connector in its previous state', () => {
    assert.deepEqual(stepsFrom('RUNNING'), ['stop', 'set', 'resume']);
    assert.deepEqual(stepsFrom('FAILED'), ['stop', 'set', 'resume']);
    assert.deepEqual(stepsFrom('PAUSED'), ['stop', 'set', 'pause']);
    assert.deepEqual(stepsFrom('STOPPED'), ['set']);
  });

  it('wait until the tasks have ended', async () => {
    const busy = "… either because its tasks haven't stopped completely yet or …";
    const { asked, send } = worker([undefined, busy, busy]);
    const report = await takeSteps(stepsFrom('RUNNING'), changes, send, silent, () => Promise.resolve());
    assert.deepEqual(report, { done: ['stop', 'set', 'resume'], at: undefined, problem: undefined });
    const body = '{"offsets":[{"partition":{"kafka_topic":"orders","kafka_partition":0},"offset":{"kafka_offset":0}}]}';
    assert.deepEqual(asked, ['PUT /stop', ...Array<string>(3).fill(`PATCH /offsets ${body}`), 'PUT /resume']);
  });

  it('end at the first failure, and report the completed steps', async () => {
    const { asked, send } = worker([undefined, 'Invalid negative offset']);
    const reports: ChangeReport[] = [];
    const report = await takeSteps(stepsFrom('RUNNING'), 'all', send, (each) => reports.push(each));
    assert.deepEqual(report, { done: ['stop'], at: 'set', problem: 'Invalid negative offset' });
    assert.deepEqual(asked, ['PUT /stop', 'DELETE /offsets']);
    assert.deepEqual(reports.at(-1), report);
  });
});
