import { ConfigError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { PackedRecords } from '../../data/packed-records.ts';
import type { ProducedRecord, SendFailure, TransactionalProducer } from '../api.ts';
import { recordsOf } from '../records/record-batch-writer.ts';
import { Cluster } from '../connections/cluster.ts';
import { ErrorCode } from '../errors/error-codes.ts';
import { ClosedError, KafkaError } from '../errors/kafka-errors.ts';
import { NetworkMetrics } from '../metrics/network-metrics.ts';
import { KafkaProducer } from './producer.ts';
import type { ProducerConfig } from '../config/producer-config.ts';
import { Transaction } from './transaction.ts';

/**
 * A producer whose batches belong to the open transaction.
 *
 *   new --init--> ready --begin--> open --commit, abort--> ready
 *   open --a record or the commit failed--> failed --abort, which requests the next epoch--> ready
 *
 * `abort` does not request the next epoch if no record of the transaction can have been sent. A fenced producer stays
 * failed.
 */
export class KafkaTransactionalProducer implements TransactionalProducer {
  readonly #producer: KafkaProducer;
  readonly #transaction: Transaction;
  #sends: Promise<unknown>[] = [];
  #state: 'new' | 'ready' | 'open' | 'failed' = 'new';
  #failure: Error | undefined;
  #closed = false;
  readonly #logger: Logger;

  constructor(config: ProducerConfig, logger: Logger) {
    this.#logger = logger;
    const { transactionalId, transactionTimeoutMs: timeoutMs, maxBlockMs } = config;
    if (transactionalId === null) {
      throw new ConfigError('Missing required configuration "transactional.id" which has no default value.');
    }
    const { clientId, metricWindow } = config.connection;
    const cluster = new Cluster(config.connection, logger, new NetworkMetrics('producer', clientId, metricWindow));
    this.#transaction = new Transaction(
      cluster,
      { transactionalId, timeoutMs, maxBlockMs },
      () => this.#closed,
      logger,
    );
    this.#producer = new KafkaProducer(config, cluster, this.#transaction, logger);
  }

  connect(): Promise<void> {
    return this.#producer.connect();
  }

  refusal(record: ProducedRecord): Error | undefined {
    return this.#producer.refusal(record);
  }

  async init(): Promise<void> {
    await this.#transaction.init();
    this.#moveTo('ready');
  }

  begin(): void {
    this.#require('ready');
    this.#moveTo('open');
  }

  async send(records: readonly ProducedRecord[]): Promise<void> {
    const [failure] = await this.trySend(records);
    if (failure !== undefined) throw failure.error;
  }

  async trySend(records: readonly (ProducedRecord | PackedRecords)[]): Promise<readonly SendFailure[]> {
    this.#require('open', 'failed');
    if (this.#failure !== undefined) {
      const error = this.#failure;
      return records.map((part) => notSent(part, error));
    }
    const sending = this.#producer.trySend(records).then((failures) => {
      if (failures[0] !== undefined) this.#fail(failures[0].error);
      return failures;
    });
    this.#sends.push(sending.catch(() => undefined));
    return sending;
  }

  async commit(): Promise<void> {
    this.#require('open', 'failed');
    await Promise.all(this.#sends);
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await this.#transaction.end('commit');
    } catch (error) {
      this.#fail(toError(error));
      throw error;
    }
    this.#moveTo('ready');
  }

  async abort(): Promise<void> {
    this.#require('open', 'failed');
    await Promise.all(this.#sends);
    if (isFencing(this.#failure)) throw this.#failure;
    const wasUsed = this.#transaction.hasPartitions;
    // Fails if another producer now owns the transactional id. Without this request, `init` would fence that producer.
    await this.#transaction.end('abort');
    // Failed records leave gaps in the sequence numbers and may still be in flight. The next epoch resolves both problems.
    if (wasUsed && this.#state === 'failed') await this.#transaction.init();
    this.#moveTo('ready');
  }

  async close(timeoutMs?: number): Promise<void> {
    this.#closed = true;
    await this.#producer.close(timeoutMs);
  }

  #fail(error: Error): void {
    const fields = { transactionalId: this.#transaction.transactionalId, from: this.#state, reason: error.message };
    if (this.#failure === undefined) this.#logger.debug(fields, 'The transaction failed');
    this.#failure ??= error;
    this.#state = 'failed';
  }

  #moveTo(state: 'ready' | 'open'): void {
    const { transactionalId } = this.#transaction;
    this.#logger.debug(
      { transactionalId, from: this.#state, to: state },
      'The transactional producer changed its state',
    );
    this.#state = state;
    this.#failure = undefined;
    this.#sends = [];
  }

  #require(...states: readonly string[]): void {
    if (this.#closed) throw new ClosedError('The producer');
    if (!states.includes(this.#state)) {
      throw new Error(`Invalid operation in transaction state ${this.#state} (required: ${states.join(', ')})`);
    }
  }
}

function notSent(part: ProducedRecord | PackedRecords, error: Error): SendFailure {
  return part instanceof PackedRecords ? { records: recordsOf(part), packed: part, error } : { records: [part], error };
}

const FENCING: ReadonlySet<number> = new Set([
  ErrorCode.producerFenced,
  ErrorCode.invalidProducerEpoch,
  ErrorCode.invalidProducerIdMapping,
]);

function isFencing(error: Error | undefined): error is KafkaError {
  return error instanceof KafkaError && FENCING.has(error.code);
}
