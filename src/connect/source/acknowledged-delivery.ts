import { within } from '../../async/within.ts';
import { ConnectError } from '../../errors.ts';
import type { PackedRecords } from '../../data/packed-records.ts';
import type { ProducedRecord, Producer, SendFailure } from '../../kafka/api.ts';
import { ClosedError } from '../../kafka/errors/kafka-errors.ts';
import type { SourceTask } from '../api.ts';
import { BatchQueue } from './batch-queue.ts';
import type { OffsetStorage } from './offset-storage.ts';
import { OffsetTracker } from './offset-tracker.ts';
import type { PolledBatch } from './polled-batch.ts';
import { closeInBackground, notifyCommitted, notifyDelivered, type SourceDelivery } from './source-delivery.ts';
import { isSingle, type PolledPart } from './source-block.ts';
import { taskText } from '../task-assignment.ts';
import { untilMayWork, type TaskRuntime } from '../tasks/task-runner.ts';

const WORKER_SOURCE_TASK = 'org.apache.kafka.connect.runtime.WorkerSourceTask';

/**
 * At-least-once delivery (org.apache.kafka.connect.runtime.WorkerSourceTask). The offsets of acknowledged records are flushed
 * every `offset.flush.interval.ms` and at the end, even after a failure.
 */
export class AcknowledgedDelivery implements SourceDelivery {
  readonly reservedTopic = undefined;
  readonly #runtime: TaskRuntime;
  readonly #task: SourceTask;
  readonly #producer: Producer;
  readonly #storage: OffsetStorage;
  readonly #queue: BatchQueue;
  readonly #tracker = new OffsetTracker();
  #commitTimer: NodeJS.Timeout | undefined;
  #committing: Promise<void> | undefined;

  constructor(
    runtime: TaskRuntime,
    task: SourceTask,
    clients: { readonly producer: Producer; readonly storage: OffsetStorage },
    onFailure: () => void,
  ) {
    this.#runtime = runtime;
    this.#task = task;
    this.#producer = clients.producer;
    this.#storage = clients.storage;
    this.#queue = new BatchQueue((batch) => this.#deliver(batch), onFailure);
  }

  refusal(record: ProducedRecord): Error | undefined {
    return this.#producer.refusal(record);
  }

  get failure(): Error | undefined {
    return this.#queue.failure;
  }

  open(): Promise<void> {
    return this.#producer.connect();
  }

  begin(): void {
    this.#commitTimer = setInterval(() => void this.#commitOffsets(), this.#runtime.offsetFlushIntervalMs);
  }

  take(batch: PolledBatch): Promise<void> {
    return this.#queue.add(batch);
  }

  pause(): void {
    // There is nothing to do, because records that have been taken are still delivered.
  }

  async finish(): Promise<void> {
    clearInterval(this.#commitTimer);
    await this.#queue.idle();
    await this.#committing;
    await this.#commitOffsets();
  }

  close(): Promise<void> {
    return this.#producer.close();
  }

  cancel(): void {
    clearInterval(this.#commitTimer);
    closeInBackground(this.#producer, this.#runtime);
  }

  async #deliver(batch: PolledBatch): Promise<void> {
    const records = batch.records();
    if (!this.#runtime.mayWork() && !(await untilMayWork(this.#runtime))) {
      throw new ConnectError('The task may run on another worker now');
    }
    const { measures, logger } = this.#runtime;
    const startedAt = measures.now();
    logger.debug({ records: batch.sent, bytes: batch.byteLength }, 'Sending records');
    const failures = await this.#producer.trySend(records);
    const skipped = failures.length === 0 ? 0 : await this.#handleFailures(batch, failures);
    const ms = Math.round(measures.now() - startedAt);
    logger.debug({ records: batch.sent - skipped, failed: skipped, ms }, 'The records were acknowledged');
    this.#tracker.acknowledge(batch.sources);
    measures.source.done(batch.size, batch.sent - skipped);
    notifyDelivered(this.#runtime, this.#task, batch.sources);
  }

  /**
   * With `errors.tolerance=all`, sends the dead-letter records and returns the number of skipped records. Otherwise, and if
   * the producer was closed, throws.
   */
  async #handleFailures(batch: PolledBatch, failures: readonly SendFailure[]): Promise<number> {
    const { errors, logger, assignment } = this.#runtime;
    const name = `WorkerSourceTask{id=${taskText(assignment.id)}}`;
    const isClosed = failures.some(({ error }) => error instanceof ClosedError);
    let skipped = 0;
    const deadLetters: ProducedRecord[] = [];
    for (const failure of failures) {
      const error = batch.explain(failure, this.#task);
      const count = failure.records.length;
      const topic = failure.records[0]?.topic ?? '';
      const which = count === 1 ? 'record' : `${String(count)} records`;
      if (!isClosed) logger.error({ err: error }, `${name} failed to send ${which} to ${topic}: ${error.message}`);
      if (!errors.tolerant || isClosed) {
        this.#acknowledgeBefore(batch, failures);
        throw new ConnectError('Unrecoverable exception from producer send callback', { cause: error });
      }
      for (const record of failure.records) {
        // With a dead-letter topic there are no blocks, so each record has a source.
        const part = batch.sourceOf(record);
        const source = part !== undefined && isSingle(part) ? part : undefined;
        const failed = { stage: 'KAFKA_PRODUCE', className: WORKER_SOURCE_TASK, error, consumed: undefined } as const;
        await errors.failed({ ...failed, source });
        const deadLetter = source && this.#runtime.deadLetters?.take(source);
        if (deadLetter !== null && deadLetter !== undefined) deadLetters.push(deadLetter);
      }
      skipped += count;
    }
    if (deadLetters.length > 0) await this.#producer.send(deadLetters);
    return skipped;
  }

  #acknowledgeBefore(batch: PolledBatch, failures: readonly SendFailure[]): void {
    const failed = new Set<ProducedRecord | PackedRecords>();
    for (const { records, packed } of failures)
      for (const record of packed === undefined ? records : [packed]) failed.add(record);
    const lost = new Set<PolledPart>();
    batch.produced.forEach((record, index) => {
      const source = batch.sources[index];
      if (record !== null && source !== undefined && failed.has(record)) lost.add(source);
    });
    this.#tracker.acknowledge(batch.sources, lost);
  }

  /**
   * Flushes the offsets, one flush at a time. Never rejects: offsets that could not be stored are included in the next flush.
   */
  #commitOffsets(): Promise<void> {
    this.#committing ??= this.#commitOffsetsNow().finally(() => {
      this.#committing = undefined;
    });
    return this.#committing;
  }

  async #commitOffsetsNow(): Promise<void> {
    const { assignment, measures, logger, offsetFlushTimeoutMs } = this.#runtime;
    if (!this.#runtime.mayWork()) return;
    const startedAt = measures.now();
    const offsets = this.#tracker.takeCommittable();
    if (offsets.length > 0) {
      logger.debug({ offsets: offsets.length }, 'Flushing offsets');
      const writing = this.#storage.write(assignment.id.connector, offsets);
      // The write may still fail after the timeout, and the rejection must be handled.
      writing.catch(() => undefined);
      try {
        if (!(await within(writing, offsetFlushTimeoutMs))) {
          this.#tracker.restore(offsets);
          measures.commitFailed();
          logger.error(
            'Timed out waiting to flush offsets to storage; will try again on next flush interval with latest offsets',
          );
          return;
        }
      } catch (error) {
        this.#tracker.restore(offsets);
        measures.commitFailed();
        logger.error({ err: error }, 'Failed to flush offsets; they will be included in the next flush');
        return;
      }
    }
    measures.committed(startedAt);
    if (offsets.length > 0) logger.debug({ offsets, ms: Math.round(measures.now() - startedAt) }, 'Flushed offsets');
    await notifyCommitted(this.#runtime, this.#task);
  }
}
