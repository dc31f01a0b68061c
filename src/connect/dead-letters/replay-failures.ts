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
  /** Letters are converted for their counts: those that cannot be converted were written by an earlier task. */
  isCounting = false;

  constructor(replay: LetterReplay, reporter: FailureReporter) {
    this.#replay = replay;
    this.#reporter = reporter;
  }

  async report(failure: FailureContext): Promise<void> {
    const { consumed } = failure;
    if (consumed === undefined) return;
    const source = consumed.letter ?? consumed;
    const isConverting = failure.stage !== 'TASK_PUT';
    if (isConverting) this.converting++;
    this.#replay.failed(source.partition, source.offset);
    if (isConverting && this.isCounting) return;
    const letter = deadLetter(source);
    await this.#reporter.report({
      ...failure,
      consumed: originalRecord(letter),
      attempt: letter.attempt + 1,
      replayed: this.#replay.nameOf(source),
      task: letter.task,
    });
  }

  async close(): Promise<void> {
    await this.#reporter.close();
  }
}
