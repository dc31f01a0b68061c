import Mocha from 'mocha';
import { recordOutcome } from './closing-line.ts';

/** Mocha's spec reporter, with the failures and their diffs at the end; the closing line is printed at exit. */
class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    const { passes, failures, pending, duration = 0 } = this.stats;
    if (failures > 0) Mocha.reporters.Base.list(this.failures);
    Mocha.reporters.Base.consoleLog(`ran for ${(duration / 1000).toFixed(1)} s`);
    recordOutcome({ passed: passes, failed: failures, skipped: pending });
  }
}

// Mocha takes a reporter by its default export.
export default Reporter;
