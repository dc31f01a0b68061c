import assert from 'node:assert/strict';
import { LetterConverter } from '../../../../src/connect/dead-letters/letter-converter.ts';
import { LetterReplay } from '../../../../src/connect/dead-letters/letter-replay.ts';
import type { LetterSelection } from '../../../../src/connect/dead-letters/letter-selection.ts';
import type { ReplayProgress } from '../../../../src/connect/dead-letters/replay-assignment.ts';
import { ReplayConsumer } from '../../../../src/connect/dead-letters/replay-consumer.ts';
import { ReplayFailures } from '../../../../src/connect/dead-letters/replay-failures.ts';
import type { FailureContext } from '../../../../src/connect/pipeline/error-policy.ts';
import type { RecordConversion } from '../../../../src/connect/pipeline/record-converter.ts';
import type { SinkRecord, TopicPartition } from '../../../../src/data/record.ts';
import { DataError } from '../../../../src/errors.ts';
import type { ConsumedBlock, ConsumedRecord, Consumer, PartitionPosition } from '../../../../src/kafka/api.ts';
import { contextHeaders, letterBlock, type GivenLetter } from './letter-batch.ts';

const PLACE = { topic: 'dead', partition: 0 };

/** A topic of one partition, which is polled a few letters at a time. */
class FakeConsumer {
  at: number | undefined;
  isAssigned = true;
  readonly sought: number[] = [];
  paused = false;
  /** Called by the next poll, before it reads. */
  onPoll: (() => void) | undefined;
  readonly #letters: readonly GivenLetter[];
  readonly #each: number;

  constructor(letters: readonly GivenLetter[], each = 2) {
    this.#letters = letters;
    this.#each = each;
  }

  pollBlocks(): Promise<readonly ConsumedBlock[]> {
    this.onPoll?.();
    this.onPoll = undefined;
    if (this.at === undefined || this.paused) return Promise.resolve([]);
    const blocks: ConsumedBlock[] = [];
    let from = this.at;
    // Two blocks, as of two batches.
    while (blocks.length < 2 && from < this.#letters.length) {
      const block = letterBlock(this.#letters.slice(from, from + this.#each));
      for (let index = 0; index < block.count; index++) block.offsets[index] = from + index;
      blocks.push(block);
      from += block.count;
    }
    this.at = from;
    return Promise.resolve(blocks);
  }

  assignment(): readonly TopicPartition[] {
    return this.isAssigned ? [PLACE] : [];
  }

  position(): number | undefined {
    return this.at;
  }

  identified(position: PartitionPosition): PartitionPosition {
    return position;
  }

  seek({ offset }: PartitionPosition): void {
    this.sought.push(offset);
    this.at = offset;
  }

  pause(partitions: readonly TopicPartition[]): void {
    if (partitions.length > 0) this.paused = true;
  }
}

interface Given {
  readonly counted?: number;
  readonly end?: number;
  readonly selection?: LetterSelection;
  readonly hasTransforms?: boolean;
  /** What transforms and converters do with a letter's value; `undefined`: it is left out. */
  readonly convert?: (value: string) => string | undefined;
}

/** The parts of a task that replays. */
class Replayed {
  readonly taken: number[] = [];
  readonly reported: FailureContext[] = [];
  readonly progress: ReplayProgress[] = [];
  readonly replay: LetterReplay;
  readonly failures: ReplayFailures;
  readonly converter: LetterConverter;
  readonly consumer: Consumer;

  constructor(
    consumer: FakeConsumer,
    { counted = 0, end = 10, selection = {}, hasTransforms = false, convert }: Given,
  ) {
    const partitions = [{ partition: 0, from: 0, counted, end }];
    const assignment = { topic: 'dead', group: 'g/1', partitions, selection, rate: 1, hasOwnChain: false };
    this.replay = new LetterReplay('c', assignment, {
      throttle: { taken: (letters) => this.taken.push(letters) },
      onProgress: (progress) => this.progress.push(progress),
    });
    this.failures = new ReplayFailures(this.replay, {
      report: (failure) => Promise.resolve(void this.reported.push(failure)),
      close: () => Promise.resolve(),
    });
    const conversion = {
      convertOne: async (record: ConsumedRecord) => {
        const value = record.value?.toString() ?? '';
        if (value !== 'bad') {
          const made = convert === undefined ? value : convert(value);
          return made === undefined ? undefined : ({ value: made } as SinkRecord);
        }
        const failure = { stage: 'TRANSFORMATION' as const, className: 'x', error: new DataError('no') };
        await this.failures.report({ ...failure, consumed: record });
        return undefined;
      },
    } as unknown as RecordConversion;
    this.converter = new LetterConverter(conversion, this, hasTransforms);
    this.consumer = new ReplayConsumer(consumer as unknown as Consumer, this.replay);
  }

  /** Polls until the end; gives the offsets that the task took, all of which are stored at once. */
  async run(): Promise<number[]> {
    const offsets: number[] = [];
    for (let polls = 0; polls < 30 && !this.replay.isAtEnd(this.consumer); polls++) {
      this.replay.beforePoll(this.consumer);
      for (const block of await this.consumer.pollBlocks(0)) {
        const letters = await this.converter.selected(block);
        offsets.push(...Array.from(letters.offsets).slice(0, letters.count));
        this.replay.passed([{ ...PLACE, offset: (block.offsets[block.count - 1] ?? -1) + 1 }]);
      }
    }
    this.replay.end();
    return offsets;
  }

  counts(): readonly number[] {
    const { read = -1, selected = -1, dropped = -1, failed = -1 } = this.progress.at(-1) ?? {};
    return [read, selected, dropped, failed];
  }
}

function letters(count: number, of: (index: number) => Partial<GivenLetter> & { stage?: string } = () => ({})) {
  return Array.from({ length: count }, (_, index) => {
    const { stage = 'TASK_PUT', value = `v${String(index)}` } = of(index);
    const context = { topic: 't', partition: '0', offset: String(100 + index), 'connector.name': 'c', stage };
    return { value, headers: contextHeaders(context) };
  });
}

const even = { filter: { stage: 'TASK_PUT' } };
const everySecond = (index: number) => ({ stage: index % 2 === 0 ? 'TASK_PUT' : 'KEY_CONVERTER' });

describe('a replay of dead letters in a task', () => {
  it('counts letters when they are stored, and those of its selection alone for its rate', async () => {
    const consumer = new FakeConsumer(letters(10, everySecond));
    const replayed = new Replayed(consumer, { selection: even });
    replayed.replay.begin(replayed.consumer, [PLACE]);
    assert.deepEqual(await replayed.run(), [0, 2, 4, 6, 8]);
    assert.deepEqual(replayed.counts(), [10, 5, 0, 0]);
    assert.deepEqual(
      replayed.progress.slice(0, 2).map(({ read, selected, positions, isDone }) => [read, selected, positions, isDone]),
      [
        [2, 1, [{ partition: 0, next: 2, counted: 2 }], false],
        [4, 2, [{ partition: 0, next: 4, counted: 4 }], false],
      ],
    );
    assert.deepEqual(replayed.taken, [1, 1, 1, 1, 1]);
    assert.deepEqual([replayed.progress.at(-1)?.isDone, replayed.replay.isDone], [true, true]);
  });

  it('ends where the topic ended when it began, and pauses there', async () => {
    const consumer = new FakeConsumer(letters(12), 3);
    const replayed = new Replayed(consumer, { end: 7 });
    replayed.replay.begin(replayed.consumer, [PLACE]);
    assert.equal(replayed.replay.isAtEnd(replayed.consumer), false);
    assert.deepEqual(await replayed.run(), [0, 1, 2, 3, 4, 5, 6]);
    assert.deepEqual(replayed.counts(), [7, 7, 0, 0]);
    assert.equal(replayed.replay.beforePoll(replayed.consumer) < 1000, true);
    assert.equal(consumer.paused, true);
    assert.deepEqual(replayed.progress.at(-1)?.positions, [{ partition: 0, next: 7, counted: 7 }]);
  });

  it('is not at its end before it has partitions', () => {
    const consumer = new FakeConsumer([]);
    const { replay, consumer: reading } = new Replayed(consumer, { end: 0 });
    consumer.isAssigned = false;
    assert.equal(replay.isAtEnd(reading), false);
  });

  it('counts letters once that are read again', async () => {
    const consumer = new FakeConsumer(letters(10));
    const replayed = new Replayed(consumer, {});
    replayed.replay.begin(replayed.consumer, [PLACE]);
    const [block] = await replayed.consumer.pollBlocks(0);
    assert.ok(block !== undefined);
    await replayed.converter.selected(block);
    replayed.consumer.seek({ ...PLACE, offset: 1 });
    assert.deepEqual((await replayed.run())[0], 1);
    assert.deepEqual(replayed.counts(), [10, 10, 0, 0]);
  });

  it('counts what was delivered and not counted before an interruption, and does not deliver it again', async () => {
    const consumer = new FakeConsumer(letters(10, everySecond));
    const replayed = new Replayed(consumer, { counted: 2, selection: even });
    consumer.at = 7;
    replayed.replay.begin(replayed.consumer, [PLACE]);
    assert.deepEqual(await replayed.run(), [8]);
    assert.deepEqual(consumer.sought, [2, 7]);
    assert.deepEqual(replayed.counts(), [8, 4, 0, 0], 'beyond those before 2');
    assert.deepEqual(
      replayed.taken.reduce((sum, taken) => sum + taken, 0),
      1,
      'the rate is for what is delivered',
    );
  });

  it('counts them also where the task learns its position later, or is given another while it counts', async () => {
    const consumer = new FakeConsumer(letters(30));
    const replayed = new Replayed(consumer, { counted: 1, end: 30 });
    consumer.onPoll = () => {
      replayed.replay.begin(replayed.consumer, [PLACE]);
      replayed.consumer.seek({ ...PLACE, offset: 9 });
    };
    assert.deepEqual(await replayed.consumer.pollBlocks(0), [], 'of 9 and behind none before 1 to 8 are counted');
    assert.equal(replayed.consumer.position(PLACE), 9);
    await replayed.consumer.pollBlocks(0);
    replayed.consumer.seek({ ...PLACE, offset: 20 });
    const taken = await replayed.run();
    assert.deepEqual([taken[0], taken.length], [20, 10]);
    assert.deepEqual(replayed.counts(), [29, 29, 0, 0]);
  });

  it('counts them where nothing is left to deliver', async () => {
    const consumer = new FakeConsumer(letters(10));
    const replayed = new Replayed(consumer, { counted: 3 });
    consumer.at = 10;
    replayed.replay.begin(replayed.consumer, [PLACE]);
    assert.equal(consumer.paused, false, 'there are letters to be counted');
    assert.equal(replayed.replay.isAtEnd(replayed.consumer), false);
    assert.deepEqual(await replayed.run(), []);
    assert.deepEqual(replayed.counts(), [7, 7, 0, 0]);
  });

  it('tells of no position that is ahead of its counts', async () => {
    const consumer = new FakeConsumer(letters(20), 2);
    const replayed = new Replayed(consumer, { end: 20 });
    consumer.at = 15;
    replayed.replay.begin(replayed.consumer, [PLACE]);
    await replayed.consumer.pollBlocks(0);
    replayed.replay.passed([{ ...PLACE, offset: 15 }]);
    const told = replayed.progress.at(-1);
    assert.deepEqual([told?.read, told?.positions], [4, [{ partition: 0, next: 4, counted: 4 }]]);
  });

  it('tells how far its counts are where a position lies amid letters that were taken together', async () => {
    const consumer = new FakeConsumer(letters(10), 4);
    const replayed = new Replayed(consumer, {});
    replayed.replay.begin(replayed.consumer, [PLACE]);
    for (const block of await replayed.consumer.pollBlocks(0)) await replayed.converter.selected(block);
    replayed.replay.passed([{ ...PLACE, offset: 6 }]);
    const told = replayed.progress.at(-1);
    assert.deepEqual([told?.read, told?.positions], [4, [{ partition: 0, next: 6, counted: 4 }]]);
    const rest = new FakeConsumer(letters(10), 4);
    rest.at = 6;
    const resumed = new Replayed(rest, { counted: 4 });
    assert.deepEqual(await resumed.run(), [6, 7, 8, 9]);
    assert.deepEqual(resumed.counts(), [6, 6, 0, 0]);
  });

  it('passes over letters that are gone, and ends', async () => {
    const consumer = new FakeConsumer(letters(10));
    const replayed = new Replayed(consumer, { counted: 2 });
    consumer.at = 8;
    // What lies between is not there any more.
    consumer.seek = ({ offset }) => (consumer.at = Math.max(8, offset));
    assert.deepEqual(await replayed.run(), [8, 9]);
    assert.deepEqual(replayed.counts(), [2, 2, 0, 0]);
  });

  it('counts what transforms leave out and what fails, once, also of letters that are only counted', async () => {
    const value = (index: number) => ({ value: index % 5 === 0 ? 'bad' : `v${String(index)}` });
    const convert = (text: string) => (text.endsWith('1') ? undefined : text);
    const consumer = new FakeConsumer(letters(20, value));
    const replayed = new Replayed(consumer, { end: 20, hasTransforms: true, convert });
    consumer.at = 6;
    replayed.replay.begin(replayed.consumer, [PLACE]);
    const records: unknown[] = [];
    for (let polls = 0; polls < 30 && !replayed.replay.isAtEnd(replayed.consumer); polls++) {
      for (const block of await replayed.consumer.pollBlocks(0)) {
        records.push(...(await replayed.converter.convertBlock(block)).records.map((record) => record.value));
      }
    }
    replayed.replay.end();
    assert.deepEqual(
      records,
      [6, 7, 8, 9, 12, 13, 14, 16, 17, 18, 19].map((n) => `v${String(n)}`),
    );
    assert.deepEqual(replayed.counts(), [20, 20, 2, 4]);
    assert.deepEqual(
      replayed.reported.map(({ consumed, attempt, replayed: name }) => [
        consumed?.topic,
        consumed?.offset,
        attempt,
        name,
      ]),
      [
        ['t', 110, 1, 'g/1/0/10'],
        ['t', 115, 1, 'g/1/0/15'],
      ],
      'those before 6 were written before the interruption',
    );
  });

  it('counts a letter that fails in the sink when it is passed, and once', async () => {
    const consumer = new FakeConsumer(letters(10));
    const replayed = new Replayed(consumer, {});
    replayed.replay.begin(replayed.consumer, [PLACE]);
    const [block] = await replayed.consumer.pollBlocks(0);
    const consumed = block?.record(1);
    const failure = { stage: 'TASK_PUT' as const, className: 'x', error: new DataError('no'), consumed };
    await replayed.failures.report(failure);
    replayed.replay.passed([{ ...PLACE, offset: 1 }]);
    assert.equal(replayed.progress.at(-1)?.failed, 0);
    await replayed.failures.report(failure);
    replayed.replay.passed([{ ...PLACE, offset: 2 }]);
    await replayed.failures.report(failure);
    replayed.replay.passed([{ ...PLACE, offset: 4 }]);
    assert.equal(replayed.progress.at(-1)?.failed, 1);
  });
});
