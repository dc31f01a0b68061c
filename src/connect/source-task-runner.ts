import { setTimeout as delay } from 'node:timers/promises';
import type { SourceRecord } from '../data/record.ts';
import { ConnectError, RetriableError, toError } from '../errors.ts';
import type { ProducedRecord, Producer } from '../kafka/api.ts';
import type { SourceTask, SourceTaskContext } from './api.ts';
import type { OffsetStorage } from './offset-storage.ts';
import { OffsetTracker, type Acknowledge } from './offset-tracker.ts';
import { SourceRecordConverter } from './record-converter.ts';
import { AFTER_SHUTDOWN, takeAll, type TaskRunner, type TaskRuntime } from './task-runner.ts';
import type { TopicCreator } from './topic-creator.ts';

const POLL_RETRY_DELAY_MS = 100;
/** Batches handed to the producer and not acknowledged; one more is polled and converted meanwhile. */
const MAX_BATCHES_IN_FLIGHT = 2;

interface Batch {
  readonly records: readonly ProducedRecord[];
  readonly sources: readonly SourceRecord[];
  readonly acknowledge: readonly Acknowledge[];
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
  #sending: Promise<void>[] = [];
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
    const polled = await this.#poll();
    if (polled.length === 0) return;
    this.#runtime.counts.records += polled.length;
    const batch = await this.#convert(polled);
    await this.#roomForOneMore();
    this.#send(batch);
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

  async #convert(polled: readonly SourceRecord[]): Promise<Batch> {
    const records: ProducedRecord[] = [];
    const sources: SourceRecord[] = [];
    const acknowledge: Acknowledge[] = [];
    for (const source of polled) {
      const done = this.#tracker.submit(source.sourcePartition, source.sourceOffset);
      const record = await this.#converter.convert(source);
      if (record === null) {
        done();
        this.#task.commitRecord?.(source);
        continue;
      }
      if (!this.#seenTopics.has(record.topic)) await this.#meet(record.topic);
      records.push(record);
      sources.push(source);
      acknowledge.push(done);
    }
    return { records, sources, acknowledge };
  }

  async #meet(topic: string): Promise<void> {
    await this.#topics.ensure(topic);
    this.#seenTopics.add(topic);
    this.#runtime.onEvent({ id: this.#runtime.assignment.id, state: 'TOPIC', topic });
  }

  async #roomForOneMore(): Promise<void> {
    while (this.#sending.length >= MAX_BATCHES_IN_FLIGHT) await this.#sending[0];
    if (this.#sendFailure !== undefined) throw this.#sendFailure;
  }

  /** Sends after all earlier batches are acknowledged, so that records keep their order even through retries. */
  #send(batch: Batch): void {
    if (batch.records.length === 0) return;
    const previous = this.#sending.at(-1) ?? Promise.resolve();
    const sending = previous
      .then(() => this.#sendNow(batch))
      .finally(() => {
        this.#sending = this.#sending.filter((other) => other !== sending);
      });
    this.#sending.push(sending);
  }

  /** Never rejects: a failure is kept and ends the task at its next turn. */
  async #sendNow(batch: Batch): Promise<void> {
    if (this.#sendFailure !== undefined) return;
    try {
      await this.#producer.send(batch.records);
    } catch (error) {
      this.#sendFailure = new ConnectError('Unrecoverable exception from producer send callback', { cause: error });
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
      () => Promise.all(this.#sending),
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
    const { assignment, logger, abort } = this.#runtime;
    return {
      connectorName: assignment.id.connector,
      taskIndex: assignment.id.task,
      config: assignment.taskConfig,
      logger,
      signal: abort.signal,
      offset: (partition) => this.#storage.read(assignment.id.connector, partition),
    };
  }
}
