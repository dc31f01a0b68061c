import Mocha from 'mocha';

/** Set by `.ci/run` and `.ci/matrix` alone. */
const VARIABLE = 'SLUICE_TEST_SECOND_TRY';
/** More of them are no coincidence. */
const MOST = 3;

/** Whether the environment asks for it. */
export function isSecondTryAllowed(): boolean {
  return process.env[VARIABLE] === 'true';
}

/** Gives each test of these files one more try, as the builds of Apache Kafka do, where the environment asks for it. */
export function allowSecondTry(root: Mocha.Suite): void {
  if (!isSecondTryAllowed()) return;
  root.eachTest((test) => {
    test.retries(1);
  });
}

/** The tests of a run that passed on their second try, with what was wrong with the first. */
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
    // The first error says more: its leftovers may be what makes the second try fail.
    runner.on('fail', (test) => {
      const first = this.#errors.get(test.fullTitle());
      if (first !== undefined) this.#failedTwice.push([test.fullTitle(), first]);
    });
  }

  /** How many of them are failures after all: none, or all if there are too many. */
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
