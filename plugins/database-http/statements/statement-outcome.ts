import { isUnavailable, type DatabaseError } from '../../database/index.ts';
import { databaseText } from '../database-failure.ts';
import { TEXTS } from '../texts.ts';

/** The result of one statement. `desc` is `success` or the reason for the failure. */
export interface StatementOutcome {
  readonly desc: string;
  /**
   * `refused`: the client must change the statement. `unavailable`: the same statement may succeed later. `failed`: the database
   * reported an error.
   */
  readonly verdict: 'success' | 'refused' | 'failed' | 'unavailable';
  readonly rows: number;
  /** Additional messages for the user about a successful statement. */
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

/** HTTP status: 503 if a retry may succeed, 500 if the database reported an error, 400 if statements were only refused. */
export function statusOf(outcomes: readonly StatementOutcome[]): 200 | 400 | 500 | 503 {
  const verdicts = new Set(outcomes.map(({ verdict }) => verdict));
  if (verdicts.has('unavailable')) return 503;
  if (verdicts.has('failed')) return 500;
  return verdicts.has('refused') ? 400 : 200;
}
