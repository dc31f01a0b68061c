import { appendFileSync } from 'node:fs';

/**
 * A file to which a run appends its counts (`passed failed skipped`) instead of printing a closing line; `.ci/run` sums
 * them up.
 */
const { SLUICE_TEST_OUTCOMES } = process.env;

/** The outcome of a run, as shown in its closing line. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

// Kept as a property of the process: mocha loads the reporter as CommonJS and the hooks as ESM, so each has its own
// copy of this module.
const slot = Symbol.for('sluice.test.outcome');
const process_ = process as NodeJS.Process & { [slot]?: Outcome | 'awaited' };

/** Returns `N passed, N failed`, followed by `, N skipped` if tests were skipped. */
export function closingLine({ passed, failed, skipped }: Outcome): string {
  const skips = skipped > 0 ? `, ${String(skipped)} skipped` : '';
  return `${String(passed)} passed, ${String(failed)} failed${skips}`;
}

export function recordOutcome(outcome: Outcome): void {
  process_[slot] = outcome;
}

/**
 * Prints the closing line when the process ends, after everything else. A run that ends before its reporter has any
 * result, for example because a file cannot be loaded, counts as one failure.
 */
export function printClosingLineAtExit(): void {
  if (process_[slot] !== undefined) return;
  process_[slot] = 'awaited';
  process.once('exit', (code) => {
    const outcome = process_[slot];
    if (outcome !== undefined && outcome !== 'awaited') {
      close(outcome);
      if (outcome.failed > 0 && code === 0) process.exitCode = 1;
      return;
    }
    close({ passed: 0, failed: 1, skipped: 0 });
    if (code === 0) process.exitCode = 1;
  });
}

function close(outcome: Outcome): void {
  const { passed, failed, skipped } = outcome;
  if (SLUICE_TEST_OUTCOMES === undefined) process.stdout.write(`${closingLine(outcome)}\n`);
  else appendFileSync(SLUICE_TEST_OUTCOMES, `${[passed, failed, skipped].join(' ')}\n`);
}
