import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { SinkTaskContext } from '../../../../src/connect/api.ts';
import type { DeadLetterSelection } from '../../../../src/connect/dead-letters/dead-letter-selection.ts';
import type { ReplayProgress } from '../../../../src/connect/dead-letters/replay-assignment.ts';
import { ErrorPolicy, type FailureContext } from '../../../../src/connect/pipeline/error-policy.ts';
import { SinkRecordConverter, type Converters } from '../../../../src/connect/pipeline/record-converter.ts';
import { TransformationChain } from '../../../../src/connect/pipeline/transformation-chain.ts';
import type { TaskAssignment, TaskEvent } from '../../../../src/connect/task-assignment.ts';
import type { FixedProperties } from '../../../../src/connect/tasks/task-clients.ts';
import type { TaskFactory } from '../../../../src/connect/hosting/task-factory.ts';
import type { ConnectRecord, SinkRecord, TopicPartition } from '../../../../src/data/record.ts';
import { DataError } from '../../../../src/errors.ts';
import type {
  RecordBlock,
  ConsumedRecord,
  Consumer,
  PartitionLag,
  PartitionPosition,
  RebalanceListener,
} from '../../../../src/kafka/api.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { SelectionMatcher } from '../../../../src/operate/dead-letters/selection-matcher.ts';
import { ReplayConsumer } from '../../../../src/operate/dead-letters/replay-consumer.ts';
import { ReplayCounts } from '../../../../src/operate/dead-letters/replay-counts.ts';
import { ReplayFailures } from '../../../../src/operate/dead-letters/replay-failures.ts';
import { ReplayTasks } from '../../../../src/operate/dead-letters/replay-tasks.ts';
import { SourceBench } from '../../connect/source-fakes.ts';
import { contextHeaders, letterBlock, type GivenLetter } from './record-batch.ts';

const PLACE = { topic: 'dead', partition: 0 };

/** A topic of one partition, which is polled a few letters at a time. */
class FakeConsumer {
  at: number | undefined;
  isAssigned = true;
  readonly sought: number[] = [];
  readonly commits: number[] = [];
  paused = false;
  /** Called by the next poll, before it reads. */
  onPoll: (() => void) | undefined;
  #listener: RebalanceListener | undefined;
  readonly #letters: readonly GivenLetter[];
  readonly #each: number;

  /** `at`: the position that the group has. */
  constructor(letters: readonly GivenLetter[], at?: number, each = 2) {
    this.#letters = letters;
    this.at = at;
    this.#each = each;
  }

  readonly isInGroup = true;
  isClosed = false;

  resume(): void {
    this.paused = false;
  }

  wakeup(): void {
    // Its polls do not wait.
  }

  missingTopics(): readonly string[] {
    return [];
  }

  lags(): readonly PartitionLag[] {
    return [];
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  subscribe(_topics: unknown, listener: RebalanceListener): void {
    this.#listener = listener;
  }

  async pollBlocks(waitMs: number): Promise<readonly RecordBlock[]> {
    await delay(Math.min(waitMs, 5));
    if (this.isAssigned) await this.#listener?.onAssigned([PLACE]);
    this.#listener = undefined;
    this.onPoll?.();
    this.onPoll = undefined;
    if (this.at === undefined || this.paused) return [];
    const blocks: RecordBlock[] = [];
    let from = this.at;
    // Two blocks, as of two batches.
    while (blocks.length < 2 && from < this.#letters.length) {
      const block = letterBlock(this.#letters.slice(from, from + this.#each));
      for (let index = 0; index < block.count; index++) block.offsets[index] = from + index;
      blocks.push(block);
      from += block.count;
    }
    this.at = from;
    return blocks;
  }

  assignment(): readonly TopicPartition[] {
    return this.isAssigned ? [PLACE] : [];
  }

  position(): number | undefined {
    return this.at;
  }

  seek({ offset }: PartitionPosition): void {
    this.sought.push(offset);
    this.at = offset;
  }

  pause(partitions: readonly TopicPartition[]): void {
    if (partitions.length > 0) this.paused = true;
  }

  commit(positions: readonly PartitionPosition[]): Promise<void> {
    this.commits.push(...positions.map(({ offset }) => offset));
    return Promise.resolve();
  }
}

interface Given {
  readonly counted?: number;
  readonly end?: number;
  readonly selection?: DeadLetterSelection;
  /** The result of the only transform for a value; `undefined`: the record is dropped. */
  readonly transform?: (value: string) => string | undefined;
}

const TEXT = {
  toConnectData: (_topic: string, bytes: Buffer | null) => ({ schema: null, value: bytes?.toString() ?? null }),
};
const CONVERTERS = {
  ...{ key: TEXT, keyClass: 'K', value: TEXT, valueClass: 'V', headerClass: 'H' },
  header: { toConnectHeader: () => ({ schema: null, value: null }) },
} as unknown as Converters;

/** The parts of a task that replays, without the sink. */
class Replayed {
  readonly reported: FailureContext[] = [];
  readonly progress: ReplayProgress[] = [];
  readonly counts: ReplayCounts;
  readonly failures: ReplayFailures;
  readonly converter: SinkRecordConverter;
  readonly consumer: ReplayConsumer;
  isComplete = false;

  constructor(consumer: FakeConsumer, { counted = 0, end = 10, selection = {}, transform }: Given = {}) {
    const partitions = [{ partition: 0, from: 0, counted, end }];
    this.counts = new ReplayCounts(partitions, (progress) => this.progress.push(progress));
    this.failures = new ReplayFailures('g/1', this.counts, {
      report: (failure) => Promise.resolve(void this.reported.push(failure)),
      close: () => Promise.resolve(),
    });
    const apply = <R extends ConnectRecord>(record: R): R | null => {
      if (record.value === 'bad') throw new DataError('no');
      const value = transform?.(record.value as string);
      return value === undefined ? null : { ...record, value };
    };
    const chain = new TransformationChain(
      transform === undefined ? [] : [{ className: 'T', transformation: { apply } }],
    );
    const tolerant = { retryTimeoutMs: 0, retryDelayMaxMs: 0, tolerance: 'all', logEnable: false } as const;
    const options = { ...tolerant, logIncludeMessages: false };
    const policy = new ErrorPolicy('c-0', options, [this.failures], silentLogger, new AbortController().signal);
    this.converter = new SinkRecordConverter(CONVERTERS, chain, policy, undefined, (place) => {
      this.counts.dropped(place);
    });
    this.consumer = new ReplayConsumer({
      consumer: consumer as unknown as ReplayConsumer,
      matcher: new SelectionMatcher('c', selection),
      counts: this.counts,
      recount: chain.empty ? undefined : (record) => this.converter.convertOne(record),
      onComplete: () => (this.isComplete = true),
    });
    const none = () => Promise.resolve();
    this.consumer.subscribe(['dead'], { onAssigned: none, onRevoked: none, onLost: none });
  }

  async poll(): Promise<readonly ConsumedRecord[]> {
    return (await this.consumer.pollBlocks(0)).flatMap(({ records = [] }) => records);
  }

  /** Commits once they are stored. */
  async commit(offset: number): Promise<void> {
    await this.consumer.commit([{ ...PLACE, offset }]);
  }

  /** Polls until the end; gives the offsets of the letters that the task gets, all of which are stored at once. */
  async run(): Promise<number[]> {
    const offsets: number[] = [];
    for (let polls = 0; polls < 30 && !this.isComplete; polls++) {
      for (const { records = [], offsets: of } of await this.consumer.pollBlocks(0)) {
        await this.converter.convert(records);
        offsets.push(...Array.from(of));
        await this.commit((offsets.at(-1) ?? -1) + 1);
      }
    }
    assert.ok(this.isComplete);
    return offsets;
  }

  total(): readonly number[] {
    const { read = -1, selected = -1, dropped = -1, failed = -1 } = this.progress.at(-1) ?? {};
    return [read, selected, dropped, failed];
  }
}

function letters(count: number, of: (index: number) => Partial<GivenLetter> & { stage?: string } = () => ({})) {
  return Array.from({ length: count }, (_, index) => {
    const { stage = 'TASK_PUT', value = `v${String(index)}` } = of(index);
    const context = { topic: 't', partition: '0', offset: String(100 + index), 'connector.name': 'c', stage };
    return { value, headers: [...contextHeaders(context), ['own', 'x'] as const] };
  });
}

function reportedLetter({ consumed, additionalHeaders = [] }: FailureContext): readonly unknown[] {
  assert.deepEqual(
    additionalHeaders.map(({ key }) => key),
    ['sluice.replay.attempt', 'sluice.replay.letter'],
  );
  return [consumed?.topic, consumed?.offset, ...additionalHeaders.map(({ value }) => value?.toString())];
}

const even = { filter: { stage: 'TASK_PUT' } };
const everySecond = (index: number) => ({ stage: index % 2 === 0 ? 'TASK_PUT' : 'KEY_CONVERTER' });

describe('a replay of dead letters in a task', () => {
  it('hands out the letters of its selection as the records that they were, with their own offsets', async () => {
    const replayed = new Replayed(new FakeConsumer(letters(10, everySecond)), { selection: even });
    const [block] = await replayed.consumer.pollBlocks(0);
    assert.ok(block !== undefined);
    assert.deepEqual([block.topic, block.count, ...Array.from(block.offsets)], ['dead', 1, 0]);
    const { topic, partition, offset, value, headers, deadLetter: source } = block.record(0);
    assert.deepEqual(
      [topic, partition, offset, String(value), source?.topic, source?.offset],
      ['t', 0, 100, 'v0', 'dead', 0],
    );
    assert.deepEqual(headers, [{ key: 'own', value: Buffer.from('x') }]);
  });

  it('counts letters when they are stored, and those that are not selected at once', async () => {
    const consumer = new FakeConsumer(letters(10, everySecond));
    const replayed = new Replayed(consumer, { selection: even });
    assert.deepEqual(await replayed.run(), [0, 2, 4, 6, 8]);
    assert.deepEqual(replayed.total(), [10, 5, 0, 0]);
    assert.deepEqual(
      replayed.progress.slice(0, 2).map(({ read, selected, positions, isDone }) => [read, selected, positions, isDone]),
      [
        [2, 1, [{ partition: 0, next: 2 }], false],
        [4, 2, [{ partition: 0, next: 4 }], false],
      ],
    );
    assert.deepEqual([replayed.progress.at(-1)?.isDone, replayed.isComplete], [true, true]);
  });

  it('ends where the topic ended when it began, and pauses there', async () => {
    const consumer = new FakeConsumer(letters(12), undefined, 3);
    const replayed = new Replayed(consumer, { end: 7 });
    assert.deepEqual((await replayed.poll()).length, 6);
    assert.deepEqual((await replayed.poll()).length, 1);
    assert.deepEqual(await replayed.poll(), []);
    assert.deepEqual([consumer.paused, replayed.isComplete], [true, false], 'the letters are not stored yet');
    await replayed.commit(7);
    assert.deepEqual([replayed.isComplete, ...replayed.total()], [true, 7, 7, 0, 0]);
    assert.deepEqual(replayed.progress.at(-1)?.positions, [{ partition: 0, next: 7 }]);
  });

  it('is not at its end before it has partitions, and ends without letters', async () => {
    const consumer = new FakeConsumer([]);
    const replayed = new Replayed(consumer, { end: 0 });
    consumer.isAssigned = false;
    await replayed.poll();
    assert.equal(replayed.isComplete, false);
    consumer.isAssigned = true;
    assert.deepEqual(await replayed.run(), []);
  });

  it('counts letters once that are read again', async () => {
    const replayed = new Replayed(new FakeConsumer(letters(10)));
    await replayed.poll();
    replayed.consumer.seek({ ...PLACE, offset: 1 });
    assert.deepEqual((await replayed.run())[0], 1);
    assert.deepEqual(replayed.total(), [10, 10, 0, 0]);
  });

  it('counts what was delivered and not counted before an interruption, and does not deliver it again', async () => {
    const consumer = new FakeConsumer(letters(10, everySecond), 7);
    const replayed = new Replayed(consumer, { counted: 2, selection: even });
    assert.deepEqual(await replayed.run(), [8]);
    assert.deepEqual(consumer.sought, [2]);
    assert.deepEqual(replayed.total(), [8, 4, 0, 0], 'beyond those before 2');
  });

  it('counts them also where the sink itself knows what it has stored', async () => {
    const consumer = new FakeConsumer(letters(30), 5);
    const replayed = new Replayed(consumer, { counted: 1, end: 30 });
    consumer.onPoll = () => {
      assert.equal(replayed.consumer.position(PLACE), 5);
      replayed.consumer.seek({ ...PLACE, offset: 9 });
      assert.equal(replayed.consumer.position(PLACE), 9);
    };
    assert.deepEqual(await replayed.poll(), [], 'of 9 and later none before 1 to 8 are counted');
    assert.equal(replayed.consumer.position(PLACE), 9);
    await replayed.poll();
    replayed.consumer.seek({ ...PLACE, offset: 20 });
    const taken = await replayed.run();
    assert.deepEqual([taken[0], taken.length], [20, 10]);
    assert.deepEqual(replayed.total(), [29, 29, 0, 0]);
  });

  it('counts them where nothing is left to deliver', async () => {
    const consumer = new FakeConsumer(letters(10), 10);
    const replayed = new Replayed(consumer, { counted: 3 });
    assert.deepEqual(await replayed.run(), []);
    assert.deepEqual(replayed.total(), [7, 7, 0, 0]);
  });

  it('is not sent back by a commit that ends after the sink has sought another position', async () => {
    const consumer = new FakeConsumer(letters(10), 3);
    const replayed = new Replayed(consumer, { counted: 1 });
    consumer.onPoll = () => {
      replayed.consumer.seek({ ...PLACE, offset: 8 });
    };
    await replayed.poll();
    await replayed.commit(4);
    assert.deepEqual(await replayed.run(), [8, 9]);
  });

  it('continues where nothing is counted twice and nothing is left out, also amid letters that were read together', async () => {
    const replayed = new Replayed(new FakeConsumer(letters(10), undefined, 4));
    await replayed.poll();
    await replayed.commit(6);
    const { read, positions } = replayed.progress.at(-1) ?? {};
    assert.deepEqual([read, positions], [6, [{ partition: 0, next: 6 }]]);
    const resumed = new Replayed(new FakeConsumer(letters(10), 6, 4), { counted: 6 });
    assert.deepEqual(await resumed.run(), [6, 7, 8, 9]);
    assert.deepEqual(resumed.total(), [4, 4, 0, 0]);
  });

  it('continues after records that are not selected, which are not committed in the group', async () => {
    const selection = { offsets: [{ partition: 0, to: 1 }] };
    const replayed = new Replayed(new FakeConsumer(letters(10), undefined, 3), { selection });
    await replayed.poll();
    await replayed.commit(2);
    const { read, positions } = replayed.progress.at(-1) ?? {};
    assert.deepEqual([read, positions], [6, [{ partition: 0, next: 6 }]]);
    const consumer = new FakeConsumer(letters(10), 2, 3);
    const resumed = new Replayed(consumer, { selection, counted: 6 });
    assert.deepEqual(await resumed.run(), []);
    assert.deepEqual([consumer.sought, ...resumed.total()], [[6], 4, 0, 0, 0]);
  });

  it('passes over letters that are gone, and ends', async () => {
    const consumer = new FakeConsumer(letters(10), 8);
    const replayed = new Replayed(consumer, { counted: 2 });
    // The records in between no longer exist.
    consumer.seek = ({ offset }) => (consumer.at = Math.max(8, offset));
    assert.deepEqual(await replayed.run(), [8, 9]);
    assert.deepEqual(replayed.total(), [2, 2, 0, 0]);
  });

  it('counts what transforms drop and what fails, once, also of letters that are only counted', async () => {
    const value = (index: number) => ({ value: index % 5 === 0 ? 'bad' : `v${String(index)}` });
    const transform = (text: string) => (text.endsWith('1') ? undefined : text);
    const replayed = new Replayed(new FakeConsumer(letters(20, value), 6), { end: 20, transform });
    assert.deepEqual(
      await replayed.run(),
      Array.from({ length: 14 }, (_, index) => 6 + index),
    );
    assert.deepEqual(replayed.total(), [20, 20, 2, 4]);
    assert.deepEqual(
      replayed.reported.map(reportedLetter),
      [
        ['t', 110, '1', 'g/1/0/10'],
        ['t', 115, '1', 'g/1/0/15'],
      ],
      'those before 6 were written before the interruption',
    );
  });

  it('counts a letter that fails in the sink when it is passed, and once', async () => {
    const replayed = new Replayed(new FakeConsumer(letters(10)));
    const consumed = (await replayed.poll())[1]?.deadLetter;
    const failure = { stage: 'TASK_PUT' as const, className: 'x', error: new DataError('no'), consumed };
    await replayed.failures.report(failure);
    await replayed.commit(1);
    assert.equal(replayed.progress.at(-1)?.failed, 0);
    await replayed.failures.report(failure);
    await replayed.commit(2);
    await replayed.failures.report(failure);
    await replayed.commit(4);
    assert.equal(replayed.progress.at(-1)?.failed, 1);
    assert.deepEqual(replayed.reported.length, 3, 'each is written');
  });
});

describe('the task of a replay', () => {
  /** With a sink that stores all letters but one, which fails again, and confirms what it was given. */
  class Scene {
    readonly bench = new SourceBench();
    readonly consumer = new FakeConsumer(letters(7, everySecond));
    readonly put: unknown[] = [];
    readonly events: TaskEvent[] = [];
    readonly reported: FailureContext[] = [];
    fixed: FixedProperties | undefined;
    config: Record<string, string> = { 'errors.deadletterqueue.topic.name': 'dead' };
    readonly tasks: ReplayTasks;

    constructor() {
      let context: SinkTaskContext | undefined;
      const sink = {
        start: (given: SinkTaskContext) => Promise.resolve(void (context = given)),
        put: async (records: readonly SinkRecord[]) => {
          for (const record of records) {
            this.put.push(record.value);
            if (record.value === 'v4') await context?.errantRecords.report(record, new DataError('no'));
          }
        },
        preCommit: (delivered: ReadonlyMap<string, unknown>) => Promise.resolve([...delivered.values()]),
        stop: () => Promise.resolve(),
      };
      const prepare: TaskFactory['prepare'] = (assignment, _measures, onEvent, reporter) => {
        const { runtime } = this.bench;
        const queue = {
          report: (failure: FailureContext) => Promise.resolve(void this.reported.push(failure)),
          close: () => Promise.resolve(),
        };
        const options = { retryTimeoutMs: 0, retryDelayMaxMs: 0, tolerance: 'all', logEnable: false } as const;
        const reporters = [reporter?.(queue) ?? queue];
        const { signal } = runtime.abort;
        const errors = new ErrorPolicy('c', { ...options, logIncludeMessages: false }, reporters, silentLogger, signal);
        return Promise.resolve({
          ...{ errors: errors.counts, deadLetters: undefined, faults: { list: () => [] }, plugins: [] },
          runtime: { ...runtime, assignment, onEvent, errors, converters: CONVERTERS },
        });
      };
      const factory = { prepare, sinkTask: () => sink } as unknown as TaskFactory;
      this.tasks = new ReplayTasks(factory, {
        sinkConsumer: (_id, _config, fixed) => {
          this.fixed = fixed;
          return Promise.resolve(this.consumer as unknown as Consumer);
        },
      });
    }

    build() {
      const { assignment, measures } = this.bench.runtime;
      const partitions = [{ partition: 0, from: 0, counted: 0, end: 7 }];
      const replay = { topic: 'dead', group: 'g/1', partitions, selection: even };
      const id = { connector: 'c', task: 0, replay: 1 };
      const given: TaskAssignment = { ...assignment, id, type: 'sink', connectorConfig: this.config, replay };
      return this.tasks.build(given, measures, (event) => this.events.push(event));
    }
  }

  it('is the sink that reads dead letters, and ends once all are stored', async () => {
    const scene = new Scene();
    const { runner } = await scene.build();
    await runner.run();
    assert.deepEqual(scene.put, ['v0', 'v2', 'v4', 'v6']);
    assert.deepEqual(scene.fixed, {
      'group.id': 'g/1',
      'auto.offset.reset': 'earliest',
      'group.instance.id': undefined,
    });
    assert.deepEqual(scene.reported.map(reportedLetter), [['t', 104, '1', 'g/1/0/4']]);
    const progress = scene.events.flatMap((event) => (event.state === 'REPLAYED' ? [event.progress] : []));
    assert.deepEqual(progress.at(-1), {
      ...{ read: 7, selected: 4, dropped: 0, failed: 1, isDone: true },
      positions: [{ partition: 0, next: 7 }],
    });
    assert.deepEqual([scene.consumer.isClosed, scene.consumer.commits.at(-1)], [true, 7]);
  });

  it('cannot start if the connector has no dead-letter topic any more', async () => {
    const scene = new Scene();
    scene.config = {};
    await assert.rejects(scene.build(), /Connector c has no dead-letter topic any more/);
  });
});
