import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs, NO_JITTER } from '../../async/backoff.ts';
import type { Logger } from '../../observe/logger.ts';
import { ConnectError, RetriableError, toError, UnavailableError } from '../../errors.ts';
import type { ConsumedHeader, ConsumedRecord } from '../../kafka/api.ts';

/** Where in a record's way something failed (org.apache.kafka.connect.runtime.errors.Stage). */
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
  /** `errors.retry.timeout`; -1 for ever, 0 one attempt. */
  readonly retryTimeoutMs: number;
  readonly retryDelayMaxMs: number;
  readonly tolerance: 'none' | 'all';
  readonly logEnable: boolean;
  readonly logIncludeMessages: boolean;
}

/** One failure on a record's way, as reporters and log lines show it. */
export interface FailureContext {
  readonly stage: Stage;
  readonly className: string;
  readonly error: Error;
  /** Sinks only: the record as it was consumed. */
  readonly consumed: ConsumedRecord | undefined;
  /** The task that it failed in at first; absent: this one. */
  readonly task?: number | undefined;
  /** Headers that its dead letter gets in addition. */
  readonly additionalHeaders?: readonly ConsumedHeader[] | undefined;
}

/** Takes failed records somewhere (the dead-letter topic). */
export interface FailureReporter {
  report(failure: FailureContext): Promise<void>;
  close(): Promise<void>;
}

export interface ErrorCounts {
  failures: number;
  errors: number;
  skipped: number;
  retries: number;
  logged: number;
  lastErrorAtMs: number;
}

/** As in Connect: a delay beyond `errors.retry.delay.max.ms` becomes a random one below it. */
const RETRY_DELAYS = { firstMs: 300, jitter: NO_JITTER, jitterAtMax: [0, 1] } as const;

/**
 * Connect's error policy of one task (docs/compatibility.md#errors-of-records): retries what may pass, then reports, then skips the
 * record (`errors.tolerance=all`) or lets the task fail (`none`).
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
   * Called when `operation` failed once with `first`: retries RetriableErrors within `errors.retry.timeout`. Gives the
   * value, or `undefined` when the record is to be skipped; throws when the task must fail, or is asked to stop.
   */
  async recover<T>(
    stage: Stage,
    className: string,
    first: unknown,
    operation: () => T | Promise<T>,
    consumed?: ConsumedRecord,
  ): Promise<T | undefined> {
    let error = toError(first);
    const deadline = this.#options.retryTimeoutMs < 0 ? Infinity : Date.now() + this.#options.retryTimeoutMs;
    for (let attempt = 0; error instanceof RetriableError && Date.now() < deadline; attempt++) {
      await delay(this.#retryDelayMs(attempt, deadline), undefined, { signal: this.#signal });
      this.counts.retries++;
      try {
        return await operation();
      } catch (thrown) {
        error = toError(thrown);
      }
    }
    if (error.name === 'AbortError') throw error;
    await this.failed({ stage, className, error, consumed });
    return undefined;
  }

  /** Reports a failure that retries cannot fix; resolves when the record is to be skipped, else throws. */
  async failed(failure: FailureContext): Promise<void> {
    this.counts.errors++;
    this.counts.failures++;
    this.counts.lastErrorAtMs = Date.now();
    this.#log(failure);
    // Nothing is wrong with the record: it is read again when the task is started again.
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

/** The failure with the coordinates of its record in the message, so that a FAILED trace ends with them. */
function located({ stage, error, consumed }: FailureContext): Error {
  if (consumed === undefined) return error;
  const where = `topic ${consumed.topic}, partition ${String(consumed.partition)}, offset ${String(consumed.offset)}`;
  return new ConnectError(`${stage} failed for the record at ${where}: ${error.message}`, {
    scope: 'record',
    cause: error,
  });
}
