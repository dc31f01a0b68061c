import type { ApiRequest } from './route.ts';

/**
 * Kinds of statements that change objects, privileges or cluster settings. Statements that change rows are not audited.
 */
const AUDITED: ReadonlySet<string> = new Set(['create', 'alter', 'drop', 'grant', 'revoke', 'set-cluster-setting']);

/** Whether statements of this kind are logged. */
export function isAudited(kind: string): boolean {
  return AUDITED.has(kind);
}

/**
 * Logs a change by a user: the user, the client's address, the database, the kind of statement and whether it succeeded. The line
 * contains neither the statement nor names and values from it.
 */
export function audit(
  { login, address, requestId, logger }: ApiRequest,
  {
    statement,
    database,
    succeeded,
  }: { readonly statement: string; readonly database: string; readonly succeeded: boolean },
): void {
  const outcome = succeeded ? 'success' : 'failure';
  logger.info(
    { audit: true, user: login.user, address, database, statement, outcome, requestId },
    `database HTTP API: audit: ${statement} by ${login.user} in ${database}: ${outcome}`,
  );
}
