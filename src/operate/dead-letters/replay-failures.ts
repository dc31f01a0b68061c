import type { FailureContext, FailureReporter } from '../../connect/pipeline/error-policy.ts';
import { deadLetter, originalRecord, replayHeaders } from './dead-letter.ts';
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
    // An earlier task has written this record; this task only converts it for the counts.
    if (failure.stage !== 'TASK_PUT' && this.#counts.isStored(source)) return;
    const letter = deadLetter(source);
    await this.#reporter.report({
      ...failure,
      consumed: originalRecord(letter),
      task: letter.task,
      letterHeaders: replayHeaders(this.#group, letter),
    });
  }

  async close(): Promise<void> {
    await this.#reporter.close();
  }
}
