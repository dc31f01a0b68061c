import type { ApiRequest } from './route.ts';

/** Statements that change objects or privileges. Statements that change rows are not among them. */
const AUDITED: ReadonlySet<string> = new Set(['create', 'alter', 'drop', 'grant', 'revoke', 'set-cluster-setting']);

/** Whether statements of this kind get a line in the log. */
export function isAudited(kind: string): boolean {
  return AUDITED.has(kind);
}

/**
 * A line in the log for what a user changed: who, from where, in which database, which class of statement and whether it succeeded. It has
 * neither the statement nor names and values in it.
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
