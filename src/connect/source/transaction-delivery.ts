import type { PackedRecords } from '../../data/packed-records.ts';
import { ConnectError, toError } from '../../errors.ts';
import type { ProducedRecord, SendFailure, TransactionalProducer } from '../../kafka/api.ts';
import { ErrorCode } from '../../kafka/errors/error-codes.ts';
import { KafkaError } from '../../kafka/errors/kafka-errors.ts';
import type { SourceTask, SourceTransactions } from '../api.ts';
import { BatchQueue } from './batch-queue.ts';
import type { OffsetTopic, OpenOffsets, StoredOffset } from './offset-storage.ts';
import { OffsetTracker } from './offset-tracker.ts';
import type { PolledBatch } from './polled-batch.ts';
import type { PolledPart } from './source-block.ts';
import { closeInBackground, notifyCommitted, notifyDelivered, type SourceDelivery } from './source-delivery.ts';
import { taskText } from '../task-assignment.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';
import type { TransactionRequests } from './transaction-requests.ts';

/** When a transaction ends: with each poll, after an interval, or when the task requests it. */
export type TransactionBoundary =
  | { readonly kind: 'poll' }
  | { readonly kind: 'interval'; readonly intervalMs: number }
  | { readonly kind: 'connector'; readonly requests: TransactionRequests };

export interface TransactionDependencies {
  readonly producer: TransactionalProducer;
  readonly offsets: OffsetTopic & Pick<OpenOffsets, 'committed'>;
  readonly boundary: TransactionBoundary;
  /** Resolves when tasks of earlier generations can no longer write. */
  readonly fenceZombies: () => Promise<void>;
}

/**
 * Exactly-once delivery (org.apache.kafka.connect.runtime.ExactlyOnceWorkerSourceTask). Records and their offsets are written
 * in one transaction. Even with the boundary `poll`, several polls share a transaction if their records waited for the previous
 * transaction.
 */
export class TransactionDelivery implements SourceDelivery {
  readonly reservedTopic: string;
  readonly #runtime: TaskRuntime;
  readonly #task: SourceTask;
  readonly #dependencies: TransactionDependencies;
  readonly #queue: BatchQueue;
  readonly #tracker = new OffsetTracker();
  /** Number of records in the open transaction. */
  #sent = 0;
  #polled = 0;
  /** Polled parts of the open transaction; collected only if the task has `commitRecord`. */
  #sources: PolledPart[] = [];
  #isOpen = false;
  #isCancelled = false;
  #intervalTimer: NodeJS.Timeout | undefined;

  constructor(runtime: TaskRuntime, task: SourceTask, dependencies: TransactionDependencies, onFailure: () => void) {
    this.#runtime = runtime;
    this.#task = task;
    this.#dependencies = dependencies;
    this.reservedTopic = dependencies.offsets.name;
    this.#queue = new BatchQueue((batch) => this.#deliver(batch), onFailure);
  }

  get transactions(): SourceTransactions | undefined {
    const { boundary } = this.#dependencies;
    return boundary.kind === 'connector' ? boundary.requests : undefined;
  }

  refusal(record: ProducedRecord): Error | undefined {
    return this.#dependencies.producer.refusal(record);
  }

  get failure(): Error | undefined {
    return this.#queue.failure;
  }

  async open(): Promise<void> {
    const { fenceZombies, producer } = this.#dependencies;
    const { abort, logger } = this.#runtime;
    logger.debug('Requesting the fencing of earlier tasks');
    await fenceZombies();
    logger.debug('Earlier tasks cannot write any more');
    await producer.connect();
    // If the task was stopped in the meantime, its next generation may already use the transactional id, which `init`
    // would fence.
    if (abort.signal.aborted) return;
    await producer.init();
    logger.debug('Initialized the transactional producer');
  }

  begin(): void {
    // There is nothing to do, because a transaction begins with its first record.
  }

  take(batch: PolledBatch): Promise<void> {
    const { boundary } = this.#dependencies;
    if (boundary.kind === 'connector') batch.ends.push(...boundary.requests.endsWithin(batch.sources));
    return this.#queue.add(batch);
  }

  /**
   * Commits the open transaction, which could otherwise time out during the pause. If the task defines transaction
   * boundaries, the transaction stays open.
   */
  pause(): void {
    if (this.#dependencies.boundary.kind !== 'connector') this.#queue.between(() => this.#commitOpen());
  }

  /**
   * Delivers the polls that were taken. A transaction that is still open is then committed; it is aborted if the task
   * has failed or defines transaction boundaries.
   */
  async finish(taskFailed: boolean): Promise<void> {
    if (!taskFailed) this.pause();
    await this.#queue.idle();
    clearTimeout(this.#intervalTimer);
    if (!this.#isOpen || this.#isCancelled) return;
    try {
      await this.#abort();
    } catch (error) {
      // The transaction will be aborted by the broker after the transaction timeout, unless that has already happened.
      this.#runtime.logger.warn({ err: error }, 'Failed to abort the transaction');
    }
  }

  close(): Promise<void> {
    return this.#dependencies.producer.close();
  }

  cancel(): void {
    this.#isCancelled = true;
    clearTimeout(this.#intervalTimer);
    closeInBackground(this.#dependencies.producer, this.#runtime);
  }

  async #deliver(batch: PolledBatch): Promise<void> {
    switch (this.#dependencies.boundary.kind) {
      case 'poll':
        await this.#commit(this.#send(batch));
        break;
      case 'interval':
        this.#requireSent(await this.#send(batch));
        break;
      case 'connector':
        await this.#deliverInParts(batch);
        break;
    }
  }

  async #deliverInParts(batch: PolledBatch): Promise<void> {
    let from = 0;
    for (const { after, outcome } of batch.ends) {
      this.#requireSent(await this.#send(batch.slice(from, after)));
      from = after;
      if (outcome === 'abort' && this.#isOpen) {
        this.#runtime.logger.info('Aborting transaction for batch as requested by connector');
        // If the abort fails, the transaction may still be open, and the commit below would commit the aborted records.
        await this.#abort().catch((error: unknown) => {
          throw this.#failed(toError(error));
        });
      }
      // The offsets of aborted records are stored, so that these records are not polled again.
      await this.#commit();
    }
    const { length } = batch.sources;
    if (from < length) this.#requireSent(await this.#send(batch.slice(from, length)));
  }

  /** Sends the batch and resolves with the error if that failed. Never rejects. */
  async #send(batch: PolledBatch): Promise<Error | undefined> {
    const records = batch.records();
    this.#tracker.acknowledge(batch.sources);
    this.#sent += batch.sent;
    this.#polled += batch.size;
    if (this.#task.commitRecord !== undefined || this.#task.commitBlock !== undefined)
      for (const source of batch.sources) this.#sources.push(source);
    if (records.length === 0) return undefined;
    try {
      this.#begin();
    } catch (error) {
      // The producer was closed while the task was being polled.
      return toError(error);
    }
    const { logger } = this.#runtime;
    logger.debug({ records: batch.sent, bytes: batch.byteLength }, 'Sending records');
    const [failure] = await this.#trySend(records);
    if (failure === undefined) logger.debug({ records: batch.sent }, 'The records were acknowledged');
    return failure && batch.explain(failure, this.#task);
  }

  async #trySend(records: readonly (ProducedRecord | PackedRecords)[]): Promise<readonly SendFailure[]> {
    try {
      return await this.#dependencies.producer.trySend(records);
    } catch (error) {
      return [{ records: [], error: toError(error) }];
    }
  }

  #begin(): void {
    if (this.#isOpen) return;
    this.#dependencies.producer.begin();
    this.#isOpen = true;
    this.#runtime.logger.debug('Began a transaction');
    const { boundary } = this.#dependencies;
    if (boundary.kind !== 'interval') return;
    this.#intervalTimer = setTimeout(() => {
      this.#queue.between(() => this.#commitOpen());
    }, boundary.intervalMs);
  }

  async #commitOpen(): Promise<void> {
    if (this.#isOpen) await this.#commit();
  }

  /** Writes the offsets and commits the transaction. `sending` resolves with the failure of records that are in flight. */
  async #commit(sending?: Promise<Error | undefined>): Promise<void> {
    clearTimeout(this.#intervalTimer);
    const { measures, logger } = this.#runtime;
    const startedAt = measures.now();
    const offsets = this.#tracker.takeCommittable();
    if (offsets.length > 0) {
      const records = await this.#offsetRecords(offsets);
      this.#begin();
      void this.#trySend(records);
    }
    if (this.#isOpen) {
      try {
        await this.#dependencies.producer.commit();
      } catch (error) {
        measures.commitFailed();
        throw this.#failed((await sending) ?? toError(error));
      }
      this.#isOpen = false;
      measures.committed(startedAt);
      measures.source.transaction(this.#sent);
      const ms = Math.round(measures.now() - startedAt);
      logger.debug({ records: this.#sent, offsets, ms }, 'Committed the transaction');
      await this.#dependencies.offsets.committed(offsets);
    } else this.#requireSent(await sending);
    await this.#notifyTask();
  }

  async #notifyTask(): Promise<void> {
    this.#runtime.measures.source.done(this.#polled, this.#sent);
    notifyDelivered(this.#runtime, this.#task, this.#sources);
    this.#sent = 0;
    this.#polled = 0;
    this.#sources = [];
    await notifyCommitted(this.#runtime, this.#task);
  }

  async #abort(): Promise<void> {
    await this.#dependencies.producer.abort();
    this.#isOpen = false;
    this.#sent = 0;
    this.#runtime.logger.debug('Aborted the transaction');
  }

  #requireSent(failure: Error | undefined): void {
    if (failure !== undefined) throw this.#failed(failure);
  }

  #failed(error: Error): ConnectError {
    const id = taskText(this.#runtime.assignment.id);
    const isExpired = error instanceof KafkaError && error.code === ErrorCode.invalidProducerEpoch;
    const message = isExpired ? expired(id) : `Failed to flush offsets and/or records for task ${id}`;
    return new ConnectError(message, { cause: error });
  }

  async #offsetRecords(offsets: readonly StoredOffset[]): Promise<ProducedRecord[]> {
    const { connector } = this.#runtime.assignment.id;
    const { name: topic } = this.#dependencies.offsets;
    const records = await this.#dependencies.offsets.encode(connector, offsets);
    return records.map(({ key, value }) => {
      return { topic, partition: null, key, value, timestamp: null, headers: [] };
    });
  }
}

function expired(task: string): string {
  return `The task ${task} was unable to finish writing records to Kafka before its producer transaction expired. It may be necessary to reconfigure this connector in order for it to run healthily with exactly-once support. Options for this include: tune the connector's producer configuration for higher throughput, increase the transaction timeout for the connector's producers, decrease the offset commit interval (if using interval-based transaction boundaries), or use the 'poll' transaction boundary (if the connector is not already configured to use it).`;
}
