import Mocha from 'mocha';
import { recordOutcome } from './closing-line.ts';
import { SecondTries } from './second-try.ts';

const SLOWEST = 10;

/**
 * Mocha's spec reporter. At the end it lists the slowest tests, the failures with their diffs, and the tests that
 * passed on the second try. The closing line is printed at exit.
 */
class Reporter extends Mocha.reporters.Spec {
  readonly #tests: Mocha.Test[] = [];
  readonly #secondTries: SecondTries;

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    this.#secondTries = new SecondTries(runner);
    runner.on('test end', (test: Mocha.Test) => this.#tests.push(test));
  }

  override epilogue(): void {
    const slowest = this.#tests.sort((a, b) => (b.duration ?? 0) - (a.duration ?? 0)).slice(0, SLOWEST);
    Mocha.reporters.Base.consoleLog('\nthe slowest tests:');
    for (const test of slowest) {
      Mocha.reporters.Base.consoleLog(`  ${((test.duration ?? 0) / 1000).toFixed(1)} s  ${test.fullTitle()}`);
    }
    const { passes, failures, pending, duration = 0 } = this.stats;
    if (failures > 0) Mocha.reporters.Base.list(this.failures);
    this.#secondTries.print();
    Mocha.reporters.Base.consoleLog(`ran for ${(duration / 1000).toFixed(1)} s`);
    const { failed } = this.#secondTries;
    recordOutcome({ passed: passes - failed, failed: failures + failed, skipped: pending });
  }
}

// Mocha uses the default export of a reporter.
export default Reporter;
