import type { FailureContext, FailureReporter } from '../pipeline/error-policy.ts';
import { deadLetter, originalRecord } from './dead-letter.ts';
import type { LetterReplay } from './letter-replay.ts';

/**
 * Letters that failed once more go to the dead-letter topic as the connector's task would write them, with the number of the
 * attempt.
 */
export class ReplayFailures implements FailureReporter {
  readonly #replay: LetterReplay;
  readonly #reporter: FailureReporter;
  /** Of these, the ones that could not be converted. */
  converting = 0;

  constructor(replay: LetterReplay, reporter: FailureReporter) {
    this.#replay = replay;
    this.#reporter = reporter;
  }

  async report(failure: FailureContext): Promise<void> {
    const { consumed } = failure;
    if (consumed === undefined) return;
    const letter = deadLetter(consumed.letter ?? consumed);
    await this.#reporter.report({
      ...failure,
      consumed: originalRecord(letter),
      attempt: letter.attempt + 1,
      task: letter.task,
    });
    this.#replay.failed++;
    if (failure.stage !== 'TASK_PUT') this.converting++;
  }

  async close(): Promise<void> {
    await this.#reporter.close();
  }
}
