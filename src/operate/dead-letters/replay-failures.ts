import type { FailureContext, FailureReporter } from '../../connect/pipeline/error-policy.ts';
import { parseDeadLetter, originalRecord, replayHeaders } from './dead-letter-record.ts';
import type { ReplayCounts } from './replay-counts.ts';

/**
 * Writes records that failed again to the dead-letter topic, as a task of the connector would, with the number of the
 * attempt.
 */
export class ReplayFailures implements FailureReporter {
  readonly #group: string;
  readonly #counts: Pick<ReplayCounts, 'failed' | 'isStored'>;
  readonly #reporter: FailureReporter;

  /** `group`: the consumer group of the replay. */
  constructor(group: string, counts: Pick<ReplayCounts, 'failed' | 'isStored'>, reporter: FailureReporter) {
    this.#group = group;
    this.#counts = counts;
    this.#reporter = reporter;
  }

  async report(failure: FailureContext): Promise<void> {
    const { consumed } = failure;
    if (consumed === undefined) return;
    const source = consumed.deadLetter ?? consumed;
    this.#counts.failed(source);
    // An earlier task has already reported this failure; this task converts the record only for the counts.
    if (failure.stage !== 'TASK_PUT' && this.#counts.isStored(source)) return;
    const deadLetter = parseDeadLetter(source);
    await this.#reporter.report({
      ...failure,
      consumed: originalRecord(deadLetter),
      task: deadLetter.task,
      additionalHeaders: replayHeaders(this.#group, deadLetter),
    });
  }

  async close(): Promise<void> {
    await this.#reporter.close();
  }
}
