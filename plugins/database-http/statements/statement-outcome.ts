import { isUnavailable, type DatabaseError } from '../../database/index.ts';
import { databaseText } from '../database-failure.ts';
import { TEXTS } from '../texts.ts';

/** The result of one statement. `desc` is `success` or the reason of the failure. */
export interface StatementOutcome {
  readonly desc: string;
  /**
   * refused: the caller must change the statement; unavailable: the same statement may succeed later; failed: the
   * database reported an error.
   */
  readonly verdict: 'success' | 'refused' | 'failed' | 'unavailable';
  readonly rows: number;
  /** Beside what was done, for the user to read. */
  readonly notices: readonly string[];
}

export function success(rows: number, notices: readonly string[] = []): StatementOutcome {
  return { desc: TEXTS.success, verdict: 'success', rows, notices };
}

export function refused(desc: string): StatementOutcome {
  return { desc, verdict: 'refused', rows: 0, notices: [] };
}

export function failed(error: DatabaseError): StatementOutcome {
  const verdict = isUnavailable(error) ? 'unavailable' : 'failed';
  return { desc: databaseText(error), verdict, rows: 0, notices: [] };
}

/** 503 if a retry may help, 500 if the database reported an error, 400 if only the statement was wrong. */
export function statusOf(outcomes: readonly StatementOutcome[]): 200 | 400 | 500 | 503 {
  const verdicts = new Set(outcomes.map(({ verdict }) => verdict));
  if (verdicts.has('unavailable')) return 503;
  if (verdicts.has('failed')) return 500;
  return verdicts.has('refused') ? 400 : 200;
}
