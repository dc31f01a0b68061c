import { setTimeout as delay } from 'node:timers/promises';
import type { SourceRecord } from '../data/record.ts';
import { ConnectError, RetriableError, SluiceError, toError } from '../errors.ts';
import type { ProducedRecord, Producer } from '../kafka/api.ts';
import type { SourceTask, SourceTaskContext } from './api.ts';
import type { OffsetStorage } from './offset-storage.ts';
import { coordinatesKey, OffsetTracker, type Acknowledge } from './offset-tracker.ts';
import { SourceRecordConverter } from './record-converter.ts';
import {
  AFTER_SHUTDOWN,
  countBatch,
  takeAll,
  type TaskDetails,
  type TaskRunner,
  type TaskRuntime,
} from './task-runner.ts';
import type { TopicCreator } from './topic-creator.ts';

const POLL_RETRY_DELAY_MS = 100;
/**
 * What polls give while a batch is on its way to the broker becomes one next batch, up to this size; then the task is not
 * polled. Small polls would cost a request and a wait for the broker each.
 */
const MAX_WAITING_RECORDS = 2_000;
const MAX_WAITING_BYTES = 393_216;

/** Records in the order in which they were polled, with what is told of each when the broker has it. */
interface Batch {
  readonly records: ProducedRecord[];
  readonly sources: SourceRecord[];
  readonly acknowledge: Acknowledge[];
  byteLength: number;
}

/**
 * Runs one source task over one producer (org.apache.kafka.connect.runtime.AbstractWorkerSourceTask): poll, transform,
 * convert, send; offsets of acknowledged records are stored every `offset.flush.interval.ms` and at the end.
 *
 * States: starting -> running <-> paused -> stopped; any failure -> failed (offsets of acknowledged records are stored
 * then too).
 */
export class SourceTaskRunner implements TaskRunner {
  readonly #runtime: TaskRuntime;
  readonly #task: SourceTask;
  readonly #producer: Producer;
  readonly #storage: OffsetStorage;
  readonly #topics: TopicCreator;
  readonly #converter: SourceRecordConverter;
  readonly #tracker = new OffsetTracker();
  readonly #seenTopics = new Set<string>();

  #wantPaused: boolean;
  #isPaused = false;
  #wake: (() => void) | undefined;
  /** Converted and not sent yet. */
  #waiting: Batch = newBatch();
  #sending: Promise<void> | undefined;
  #sendFailure: Error | undefined;
  #commitTimer: NodeJS.Timeout | undefined;
  #commitInFlight: Promise<void> | undefined;

  constructor(
    runtime: TaskRuntime,
    task: SourceTask,
    producer: Producer,
    storage: OffsetStorage,
    topics: TopicCreator,
  ) {
    this.#runtime = runtime;
    this.#task = task;
    this.#producer = producer;
    this.#storage = storage;
    this.#topics = topics;
    this.#converter = new SourceRecordConverter(runtime.converters, runtime.chain, runtime.errors);
    this.#wantPaused = runtime.assignment.targetState !== 'STARTED';
  }

  pause(): void {
    this.#wantPaused = true;
    this.#wake?.();
  }

  resume(): void {
    this.#wantPaused = false;
    this.#wake?.();
  }

  stop(): void {
    this.#runtime.abort.abort();
    this.#wake?.();
  }

  details(): TaskDetails {
    return { partitions: [], parts: this.#task.parts?.() ?? [] };
  }

  async run(): Promise<void> {
    const { assignment, abort, onEvent, offsetFlushIntervalMs } = this.#runtime;
    let failure: Error | undefined;
    try {
      await this.#producer.connect();
      await this.#task.start(this.#context());
      this.#isPaused = this.#wantPaused;
      onEvent({ id: assignment.id, state: this.#isPaused ? 'PAUSED' : 'RUNNING' });
      this.#commitTimer = setInterval(() => void this.#commitOffsets(), offsetFlushIntervalMs);
      while (!abort.signal.aborted) await this.#turn();
    } catch (error) {
      failure = toError(error);
    }
    await this.#end();
    failure ??= this.#sendFailure;
    if (failure === undefined) return;
    if (!abort.signal.aborted) throw failure;
    if (failure.name !== 'AbortError') this.#runtime.logger.warn({ err: failure }, AFTER_SHUTDOWN);
  }

  async #turn(): Promise<void> {
    if (this.#wantPaused !== this.#isPaused) {
      this.#isPaused = this.#wantPaused;
      this.#runtime.onEvent({ id: this.#runtime.assignment.id, state: this.#isPaused ? 'PAUSED' : 'RUNNING' });
    }
    if (this.#isPaused) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      return;
    }
    const startedAt = performance.now();
    const polled = await this.#poll();
    if (this.#sendFailure !== undefined) throw this.#sendFailure;
    if (polled.length === 0) return;
    this.#runtime.counts.records += polled.length;
    countBatch(this.#runtime.counts, startedAt);
    await this.#convert(polled);
    this.#sendWaiting();
    await this.#roomForMore();
  }

  async #poll(): Promise<readonly SourceRecord[]> {
    try {
      return await this.#task.poll();
    } catch (error) {
      if (!(error instanceof RetriableError)) throw error;
      this.#runtime.logger.warn({ err: error }, 'The task could not be polled and is polled again');
      await delay(POLL_RETRY_DELAY_MS, undefined, { signal: this.#runtime.abort.signal });
      return [];
    }
  }

  /** Adds to what waits, all at once: it may be sent at any time in between. */
  async #convert(polled: readonly SourceRecord[]): Promise<void> {
    const batch = newBatch();
    let topic: string | undefined;
    for (const source of polled) {
      const done = this.#tracker.submit(source.sourcePartition, source.sourceOffset);
      const converting = this.#converter.convert(source);
      const record = converting instanceof Promise ? await converting : converting;
      if (record === null) {
        done();
        this.#task.commitRecord?.(source);
        continue;
      }
      if (record.topic !== topic) {
        topic = record.topic;
        await this.#meet(topic);
      }
      batch.records.push(record);
      batch.sources.push(source);
      batch.acknowledge.push(done);
      batch.byteLength += (record.value?.length ?? 0) + (record.key?.length ?? 0);
    }
    append(this.#waiting, batch);
  }

  /** Told with each batch: someone may have reset what was told before. */
  async #meet(topic: string): Promise<void> {
    if (!this.#seenTopics.has(topic)) {
      await this.#topics.ensure(topic);
      this.#seenTopics.add(topic);
    }
    this.#runtime.onEvent({ id: this.#runtime.assignment.id, state: 'TOPIC', topic });
  }

  async #roomForMore(): Promise<void> {
    const { records, byteLength } = this.#waiting;
    if (records.length >= MAX_WAITING_RECORDS || byteLength >= MAX_WAITING_BYTES) await this.#sending;
    if (this.#sendFailure !== undefined) throw this.#sendFailure;
  }

  /** Sends what waits when all before it is acknowledged, so that records keep their order even through retries. */
  #sendWaiting(): void {
    if (this.#sending !== undefined || this.#waiting.records.length === 0) return;
    const batch = this.#waiting;
    this.#waiting = newBatch();
    this.#sending = this.#sendNow(batch).finally(() => {
      this.#sending = undefined;
      this.#sendWaiting();
    });
  }

  /** Resolves when nothing waits any more. */
  async #allSent(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  /** Never rejects: a failure is kept and ends the task at its next turn. */
  async #sendNow(batch: Batch): Promise<void> {
    if (this.#sendFailure !== undefined) return;
    try {
      await this.#producer.send(batch.records);
    } catch (error) {
      const cause = this.#withRecord(batch, toError(error));
      this.#sendFailure = new ConnectError('Unrecoverable exception from producer send callback', { cause });
      this.#wake?.();
      return;
    }
    for (const done of batch.acknowledge) done();
    this.#runtime.counts.delivered += batch.records.length;
    if (this.#task.commitRecord === undefined) return;
    for (const source of batch.sources) {
      try {
        this.#task.commitRecord(source);
      } catch (error) {
        this.#runtime.logger.error({ err: error }, 'The task failed in commitRecord');
      }
    }
  }

  /** Of a record that is too large the producer says only its size: which one it is, the task can tell. */
  #withRecord({ records, sources }: Batch, error: Error): Error {
    if (!(error instanceof SluiceError) || !error.javaName.endsWith('RecordTooLargeException')) return error;
    const sizes = records.map(({ value }) => value?.length ?? 0);
    const source = sources[sizes.indexOf(Math.max(...sizes))];
    if (source === undefined) return error;
    const what = this.#task.describe?.(source) ?? `source partition ${coordinatesKey(source.sourcePartition)}`;
    return new SluiceError(`${what}: ${error.message}`, { javaName: error.javaName, cause: error });
  }

  /** Never rejects: what could not be stored is taken again at the next turn of the timer. */
  async #commitOffsets(): Promise<void> {
    if (this.#commitInFlight !== undefined) return this.#commitInFlight;
    this.#commitInFlight = this.#commitOffsetsNow().finally(() => {
      this.#commitInFlight = undefined;
    });
    return this.#commitInFlight;
  }

  async #commitOffsetsNow(): Promise<void> {
    const offsets = this.#tracker.takeCommittable();
    try {
      if (offsets.length > 0) await this.#storage.write(this.#runtime.assignment.id.connector, offsets);
      await this.#task.commit?.();
    } catch (error) {
      this.#tracker.restore(offsets);
      this.#runtime.logger.error({ err: error }, 'Offsets were not stored; they are with the next commit');
    }
  }

  async #end(): Promise<void> {
    const { logger, chain, errors } = this.#runtime;
    clearInterval(this.#commitTimer);
    const steps = [
      () => this.#allSent(),
      () => this.#commitInFlight ?? Promise.resolve(),
      () => this.#commitOffsets(),
      () => this.#task.stop(),
      () => this.#producer.close(),
      () => this.#topics.close(),
      () => {
        chain.close();
      },
      () => errors.close(),
    ];
    await takeAll(steps, logger);
  }

  #context(): SourceTaskContext {
    const { assignment, pluginLogger, abort } = this.#runtime;
    return {
      connectorName: assignment.id.connector,
      taskIndex: assignment.id.task,
      config: assignment.taskConfig,
      logger: pluginLogger,
      signal: abort.signal,
      offset: (partition) => this.#storage.read(assignment.id.connector, partition),
    };
  }
}

function newBatch(): Batch {
  return { records: [], sources: [], acknowledge: [], byteLength: 0 };
}

function append(batch: Batch, { records, sources, acknowledge, byteLength }: Batch): void {
  for (const record of records) batch.records.push(record);
  for (const source of sources) batch.sources.push(source);
  for (const done of acknowledge) batch.acknowledge.push(done);
  batch.byteLength += byteLength;
}
