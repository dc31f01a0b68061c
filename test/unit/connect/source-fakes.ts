import { pino } from 'pino';
import { AcknowledgedDelivery } from '../../../src/connect/source/acknowledged-delivery.ts';
import type { PolledRecord, SourceBlock, SourceTask, SourceTaskContext } from '../../../src/connect/api.ts';
import { Throttle } from '../../../src/connect/pipeline/throttle.ts';
import { ErrorPolicy } from '../../../src/connect/pipeline/error-policy.ts';
import type { OffsetStorage, StoredOffset } from '../../../src/connect/source/offset-storage.ts';
import { coordinatesKey } from '../../../src/connect/source/offset-tracker.ts';
import { SourceDeadLetters } from '../../../src/connect/pipeline/source-dead-letters.ts';
import { SourceTaskRunner } from '../../../src/connect/source/source-task-runner.ts';
import { workPlaces } from '../../../src/observe/work-place.ts';
import { TaskMeasures } from '../../../src/connect/tasks/task-measures.ts';
import type { TaskRuntime } from '../../../src/connect/tasks/task-runner.ts';
import { DEFAULT_WINDOW } from '../../../src/observe/metrics/sampled-stats.ts';
import { TopicCreator } from '../../../src/connect/source/topic-creator.ts';
import { TransactionDelivery, type TransactionBoundary } from '../../../src/connect/source/transaction-delivery.ts';
import { TransformationChain } from '../../../src/connect/pipeline/transformation-chain.ts';
import type { SourceCoordinates, SourceRecord } from '../../../src/data/record.ts';
import { DataError } from '../../../src/errors.ts';
import type { ProducedRecord, SendFailure, TransactionalProducer } from '../../../src/kafka/api.ts';

/** Record number `n` of a source partition; `poison` cannot be converted. */
export function source(n: number, table = 't', value = String(n)): SourceRecord {
  return {
    sourcePartition: { table },
    sourceOffset: { n },
    topic: 'topic',
    partition: null,
    keySchema: null,
    key: null,
    valueSchema: null,
    value,
    timestamp: null,
    headers: [],
  };
}

export function valueOf({ value }: SourceRecord): string {
  return typeof value === 'string' ? value : '';
}

/** A producer that records its calls in order, in words; records appear as their values. */
class FakeProducer implements TransactionalProducer {
  readonly asked: string[] = [];
  readonly sent: ProducedRecord[] = [];
  /** Gives the failure of a record. */
  failing: (value: string, topic: string) => Error | undefined = () => undefined;
  /** Sends wait for it. */
  gate: Promise<void> = Promise.resolve();
  commitFailure: Error | undefined;
  abortFailure: Error | undefined;
  maxBytes = Infinity;
  isClosed = false;

  async connect(): Promise<void> {
    this.asked.push('connect');
    await Promise.resolve();
  }

  async init(): Promise<void> {
    this.asked.push('init');
    await Promise.resolve();
  }

  begin(): void {
    this.asked.push('begin');
  }

  async commit(): Promise<void> {
    await this.gate;
    if (this.commitFailure !== undefined) throw this.commitFailure;
    this.asked.push('commit');
  }

  async abort(): Promise<void> {
    this.asked.push('abort');
    await Promise.resolve();
    if (this.abortFailure !== undefined) throw this.abortFailure;
  }

  async send(records: readonly ProducedRecord[]): Promise<void> {
    const [failure] = await this.trySend(records);
    if (failure !== undefined) throw failure.error;
  }

  async trySend(records: readonly ProducedRecord[]): Promise<readonly SendFailure[]> {
    this.asked.push(`${records[0]?.topic ?? ''} ${records.map(textOf).join(',')}`);
    this.sent.push(...records);
    await this.gate;
    return records.flatMap((record) => {
      const error = this.failing(textOf(record), record.topic);
      return error === undefined ? [] : [{ records: [record], error }];
    });
  }

  refusal({ value }: ProducedRecord): Error | undefined {
    return (value?.length ?? 0) > this.maxBytes ? new Error('it is too large') : undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.resolve();
  }
}

function textOf({ value }: ProducedRecord): string {
  return Buffer.from(value ?? '').toString();
}

/** Offsets by `{"table":"t"}` and the like. */
class FakeOffsets implements OffsetStorage {
  readonly name = 'offsets';
  readonly stored = new Map<string, SourceCoordinates | null>();
  failure: Error | undefined;

  async read(_connector: string, partition: SourceCoordinates): Promise<SourceCoordinates | null> {
    return Promise.resolve(this.stored.get(coordinatesKey(partition)) ?? null);
  }

  async write(_connector: string, offsets: readonly StoredOffset[]): Promise<void> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    for (const { partition, offset } of offsets) this.stored.set(coordinatesKey(partition), offset);
  }

  async committed(): Promise<void> {
    await Promise.resolve();
  }

  async list(): Promise<readonly StoredOffset[]> {
    return Promise.resolve([]);
  }

  encode(_connector: string, offsets: readonly StoredOffset[]): { key: Uint8Array; value: Uint8Array | null }[] {
    return offsets.map(({ partition, offset }) => {
      return { key: Buffer.from(coordinatesKey(partition)), value: Buffer.from(JSON.stringify(offset)) };
    });
  }
}

/** A task that returns the given polls, then waits for its end. */
class FakeTask implements SourceTask {
  readonly told: string[] = [];
  readonly polls: (readonly PolledRecord[] | Error)[] = [];
  transactions: { commit(record?: SourceRecord): void; abort(record?: SourceRecord): void } | undefined;
  /** The next poll returns it alone. */
  block: SourceBlock | undefined;
  json: SourceTaskContext['json'];
  onPoll: (records: readonly SourceRecord[]) => void = () => undefined;
  commitFailure: Error | undefined;
  #signal: AbortSignal | undefined;

  async start(context: SourceTaskContext): Promise<void> {
    this.told.push('start');
    this.json = context.json;
    this.#signal = context.signal;
    this.transactions = context.transactions;
    await Promise.resolve();
  }

  async poll(): Promise<readonly PolledRecord[]> {
    const next = this.polls.shift();
    if (next instanceof Error) throw next;
    if (next === undefined) await new Promise((resolve) => setTimeout(resolve, 2));
    this.#signal?.throwIfAborted();
    if (next !== undefined) this.onPoll(next.filter((each) => 'value' in each));
    return next ?? [];
  }

  pollBlocks(): Promise<readonly (PolledRecord | SourceBlock)[]> {
    const { block } = this;
    this.block = undefined;
    return block === undefined ? this.poll() : Promise.resolve([block]);
  }

  async commit(): Promise<void> {
    this.told.push('commit');
    await Promise.resolve();
    if (this.commitFailure !== undefined) throw this.commitFailure;
  }

  commitRecord(record: PolledRecord): void {
    if (!('value' in record)) {
      this.told.push(`offset ${JSON.stringify(record.sourceOffset)}`);
      return;
    }
    this.told.push(`record ${valueOf(record)}`);
    if (record.value === 'throws') throw new Error('commitRecord');
  }

  describe(record: SourceRecord): string {
    return `row ${valueOf(record)}`;
  }

  async stop(): Promise<void> {
    this.told.push('stop');
    await Promise.resolve();
  }
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly err?: { readonly message: string };
}

/** A source task with fakes around it. */
export class SourceBench {
  readonly producer = new FakeProducer();
  readonly offsets = new FakeOffsets();
  readonly task = new FakeTask();
  readonly log: LogLine[] = [];
  readonly states: string[] = [];
  readonly runtime: TaskRuntime;
  readonly runner: SourceTaskRunner;

  constructor({
    tolerance = 'none',
    deadLetterTopic,
    boundary,
    flushIntervalMs = 10,
    fenceZombies = () => Promise.resolve(),
  }: {
    tolerance?: 'none' | 'all';
    deadLetterTopic?: string;
    /** With it, delivery is in transactions. */
    boundary?: TransactionBoundary;
    flushIntervalMs?: number;
    fenceZombies?: () => Promise<void>;
  } = {}) {
    const logger = pino({ level: 'debug' }, { write: (line) => void this.log.push(JSON.parse(line) as LogLine) });
    const abort = new AbortController();
    const options = { retryTimeoutMs: 0, retryDelayMaxMs: 0, tolerance, logEnable: true, logIncludeMessages: false };
    const convert = (text: unknown) => {
      if (text === 'poison') throw new DataError('poison');
      return typeof text === 'string' ? Buffer.from(text) : null;
    };
    const converter = {
      writesPlainJson: true,
      passesText: () => true,
      fromConnectData: (_topic: string, _schema: unknown, value: unknown) => convert(value),
      toConnectData: () => ({ schema: null, value: null }),
    };
    const header = {
      fromConnectHeader: () => null,
      toConnectHeader: () => ({ schema: null, value: null }),
    };
    const id = { connector: 'c', task: 0 };
    const letters =
      deadLetterTopic === undefined ? undefined : new SourceDeadLetters(id, deadLetterTopic, (text) => text);
    this.runtime = {
      assignment: {
        id,
        type: 'source',
        tasks: 1,
        connectorConfig: {},
        taskConfig: {},
        targetState: 'STARTED',
      },
      converters: { key: converter, keyClass: 'K', value: converter, valueClass: 'V', header, headerClass: 'H' },
      chain: new TransformationChain([]),
      errors: new ErrorPolicy('c-0', options, letters === undefined ? [] : [letters], logger, abort.signal),
      deadLetters: letters,
      logger,
      pluginLogger: logger,
      abort,
      onEvent: ({ state }) => {
        if (state !== 'TOPIC') this.states.push(state);
      },
      mayWork: () => true,
      offsetFlushIntervalMs: flushIntervalMs,
      offsetFlushTimeoutMs: 100,
      measures: new TaskMeasures(DEFAULT_WINDOW),
      throttle: new Throttle({ records: undefined, bytes: undefined }),
      place: workPlaces.open('source-0'),
    };
    const { producer, offsets, task, runtime } = this;
    const topics = new TopicCreator(
      {},
      false,
      () => {
        throw new Error('no admin');
      },
      logger,
    );
    const delivery = (onFailure: () => void) =>
      boundary === undefined
        ? new AcknowledgedDelivery(runtime, task, { producer, storage: offsets }, onFailure)
        : new TransactionDelivery(runtime, task, { producer, offsets, boundary, fenceZombies }, onFailure);
    const opened = { storage: offsets, close: () => Promise.resolve() };
    this.runner = new SourceTaskRunner(runtime, task, delivery, opened, topics);
  }

  /** Records that the task gave. */
  get polled(): number {
    return this.runtime.measures.source.values()['source-record-poll-total'] ?? 0;
  }

  /** Records that are written. */
  get delivered(): number {
    return this.runtime.measures.source.values()['source-record-write-total'] ?? 0;
  }

  /** Messages of a level or above. */
  messages(level: number): string[] {
    return this.log.filter((line) => line.level >= level).map(({ msg }) => msg);
  }
}
