import Mocha from 'mocha';

/** Only `.ci/run` and `.ci/matrix` set this variable. */
const VARIABLE = 'SLUICE_TEST_SECOND_TRY';
/** A larger number is not a coincidence. */
const MOST = 3;

/** Returns true if the environment allows a second try. */
export function isSecondTryAllowed(): boolean {
  return process.env[VARIABLE] === 'true';
}

/** If the environment allows it, each test of these files gets a second try, as in the builds of Apache Kafka. */
export function allowSecondTry(root: Mocha.Suite): void {
  if (!isSecondTryAllowed()) return;
  root.eachTest((test) => {
    test.retries(1);
  });
}

/** The tests that passed on their second try, with the errors of their first try. */
export class SecondTries {
  readonly #errors = new Map<string, Error>();
  readonly #passed: string[] = [];
  readonly #failedTwice: (readonly [title: string, first: Error])[] = [];

  constructor(runner: Mocha.Runner) {
    runner.on('retry', (test: Mocha.Test, error: Error) => {
      this.#errors.set(test.fullTitle(), error);
      Mocha.reporters.Base.consoleLog(`    (first try of "${test.title}": ${error.message})`);
    });
    runner.on('pass', (test: Mocha.Test) => {
      if (this.#errors.has(test.fullTitle())) this.#passed.push(test.fullTitle());
    });
    // The first error is more useful, because the second try may fail because of what the first one left behind.
    runner.on('fail', (test) => {
      const first = this.#errors.get(test.fullTitle());
      if (first !== undefined) this.#failedTwice.push([test.fullTitle(), first]);
    });
  }

  /** The number of these tests that count as failed: none, or all if there are too many. */
  get failed(): number {
    return this.#passed.length > MOST ? this.#passed.length : 0;
  }

  print(): void {
    const { consoleLog } = Mocha.reporters.Base;
    for (const [title, error] of this.#failedTwice) {
      consoleLog(`\nthe first failure of ${title}:\n    ${(error.stack ?? error.message).replaceAll('\n', '\n    ')}`);
    }
    if (this.#passed.length === 0) return;
    consoleLog('\npassed on the second try:');
    for (const title of this.#passed) {
      const error = this.#errors.get(title);
      consoleLog(`  ${title}\n    ${(error?.stack ?? String(error?.message)).replaceAll('\n', '\n    ')}`);
    }
    if (this.failed > 0) consoleLog(`  more than ${String(MOST)}: they count as failed`);
  }
}
