import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, NO_JITTER } from '../../async/backoff.ts';
import type { Logger } from '../../observe/logger.ts';
import type { SourceRecord } from '../../data/record.ts';
import { ConnectError, RetriableError, toError, UnavailableError } from '../../errors.ts';
import type { ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';
import type { FailedRecord } from '../api.ts';

/** The stage of a failure (org.apache.kafka.connect.runtime.errors.Stage). */
export type Stage =
  | 'TASK_POLL'
  | 'TASK_PUT'
  | 'TRANSFORMATION'
  | 'KEY_CONVERTER'
  | 'VALUE_CONVERTER'
  | 'HEADER_CONVERTER'
  | 'KAFKA_PRODUCE'
  | 'KAFKA_CONSUME';

export interface ErrorPolicyOptions {
  /** `errors.retry.timeout`; -1 means unlimited, 0 means a single attempt. */
  readonly retryTimeoutMs: number;
  readonly retryDelayMaxMs: number;
  readonly tolerance: 'none' | 'all';
  readonly logEnable: boolean;
  readonly logIncludeMessages: boolean;
}

/** The failure of one record, as reporters and log lines show it. */
export interface FailureContext {
  readonly stage: Stage;
  readonly className: string;
  readonly error: Error;
  /** The record as it was consumed; only set for sinks. */
  readonly consumed: ConsumedRecord | undefined;
  /** The record as the task returned it; only set for sources. */
  readonly source?: SourceRecord | FailedRecord | undefined;
  /** Index of the task in which the record failed originally; set if the record failed again in a replay. */
  readonly task?: number | undefined;
  /** Additional headers of the dead-letter record. */
  readonly additionalHeaders?: readonly ConsumedHeader[] | undefined;
}

/** The record whose conversion failed. */
export type RecordOrigin = Pick<FailureContext, 'consumed' | 'source'>;

/** Receives failed records, for example to write them to the dead-letter topic. */
export interface FailureReporter {
  report(failure: FailureContext): Promise<void>;
  close(): Promise<void>;
}

export interface ErrorCounts {
  /** Number of failed attempts, including those that were retried. */
  failures: number;
  errors: number;
  skipped: number;
  retries: number;
  logged: number;
  lastErrorAtMs: number;
}

/** As in Connect, a delay above `errors.retry.delay.max.ms` is replaced by a random delay below it. */
const RETRY_DELAYS = { firstMs: 300, jitter: NO_JITTER, jitterAtMax: [0, 1] } as const;

/**
 * Connect's error policy for one task (docs/compatibility.md#errors-of-records). Retries retriable errors, then reports the
 * record, and then skips it (`errors.tolerance=all`) or fails the task (`none`). After the retries, an UnavailableError
 * always fails the task, and the record is not reported.
 */
export class ErrorPolicy {
  readonly counts: ErrorCounts = { failures: 0, errors: 0, skipped: 0, retries: 0, logged: 0, lastErrorAtMs: 0 };
  readonly #taskName: string;
  readonly #options: ErrorPolicyOptions;
  readonly #reporters: readonly FailureReporter[];
  readonly #logger: Logger;
  readonly #signal: AbortSignal;

  constructor(
    taskName: string,
    options: ErrorPolicyOptions,
    reporters: readonly FailureReporter[],
    logger: Logger,
    signal: AbortSignal,
  ) {
    this.#taskName = taskName;
    this.#options = options;
    this.#reporters = reporters;
    this.#logger = logger;
    this.#signal = signal;
  }

  get tolerant(): boolean {
    return this.#options.tolerance === 'all';
  }

  /**
   * Called after the first failure of `operation`. Retries RetriableErrors within `errors.retry.timeout`. Resolves with the
   * value, or with `undefined` if the record is skipped. Rejects if the task must fail or is stopped.
   */
  async recover<T>(
    stage: Stage,
    className: string,
    first: unknown,
    operation: () => T | Promise<T>,
    record: RecordOrigin,
  ): Promise<T | undefined> {
    let error = toError(first);
    const deadline = this.#options.retryTimeoutMs < 0 ? Infinity : Date.now() + this.#options.retryTimeoutMs;
    for (let attempt = 0; error instanceof RetriableError && Date.now() < deadline; attempt++) {
      this.counts.failures++;
      await delay(this.#retryDelayMs(attempt, deadline), undefined, { signal: this.#signal });
      this.counts.retries++;
      try {
        return await operation();
      } catch (thrown) {
        error = toError(thrown);
      }
    }
    if (error.name === 'AbortError') throw error;
    await this.failed({ stage, className, error, ...record });
    return undefined;
  }

  /** Reports a failure that is not retried. Resolves if the record is skipped; otherwise rejects. */
  async failed(failure: FailureContext): Promise<void> {
    this.counts.errors++;
    this.counts.failures++;
    this.counts.lastErrorAtMs = Date.now();
    this.#log(failure);
    // An UnavailableError is not the fault of the record. After a restart of the task, the record is read again.
    const isFault = !(failure.error instanceof UnavailableError);
    if (isFault) for (const reporter of this.#reporters) await reporter.report(failure);
    if (!isFault || !this.tolerant) {
      throw new ConnectError('Tolerance exceeded in error handler', { scope: 'record', cause: located(failure) });
    }
    this.counts.skipped++;
  }

  async close(): Promise<void> {
    for (const reporter of this.#reporters) await reporter.close();
  }

  #retryDelayMs(attempt: number, deadline: number): number {
    const delayMs = backoffMs(attempt, { ...RETRY_DELAYS, maxMs: this.#options.retryDelayMaxMs });
    return Math.max(0, Math.min(delayMs, deadline - Date.now()));
  }

  #log({ stage, className, error, consumed }: FailureContext): void {
    if (!this.#options.logEnable) return;
    this.counts.logged++;
    const where =
      this.#options.logIncludeMessages && consumed !== undefined
        ? `, where consumed record is {topic='${consumed.topic}', partition=${String(consumed.partition)}, offset=${String(consumed.offset)}, timestamp=${String(consumed.timestamp)}, timestampType=${consumed.timestampType}}`
        : '';
    this.#logger.error(
      { err: error },
      `Error encountered in task ${this.#taskName}. Executing stage '${stage}' with class '${className}'${where}.`,
    );
  }
}

/** Adds the coordinates of the record to the message, so that the stack trace of a FAILED task shows them. */
function located({ stage, error, consumed }: FailureContext): Error {
  if (consumed === undefined) return error;
  const where = `topic ${consumed.topic}, partition ${String(consumed.partition)}, offset ${String(consumed.offset)}`;
  return new ConnectError(`${stage} failed for the record at ${where}: ${error.message}`, {
    scope: 'record',
    cause: error,
  });
}
