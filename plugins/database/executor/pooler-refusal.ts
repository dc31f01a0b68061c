/**
 * Refusals that pgbouncer reports with SQLSTATE 08P01, and the SQLSTATE that PostgreSQL has for each. pgbouncer uses
 * 08P01 for all of its own errors and, before version 1.20, for those of a server that refused its login.
 */
const REFUSALS: readonly (readonly [text: RegExp, sqlstate: string])[] = [
  [/^(?:no such database: |database ".*" does not exist)/s, '3D000'],
  [/^(?:no such user|(?:password|SASL|PAM|LDAP|certificate|"trust") authentication failed)/, '28P01'],
  [/^role ".*" (?:does not exist|is not permitted to log in)/s, '28000'],
  [/^(?:no pg_hba\.conf entry |pg_hba\.conf rejects |(?:unix socket )?login rejected$)/, '28000'],
  [/^permission denied for database /, '42501'],
];
/** pgbouncer 1.24 and later puts this text before the error of its last login. */
const CACHED = /^server login has been failing, cached error: /;

/** Returns the SQLSTATE that PostgreSQL has for a refusal of a pooler; `undefined` for other errors. */
export function sqlstateOfPooler(message: string): string | undefined {
  const reason = message.replace(CACHED, '');
  return REFUSALS.find(([text]) => text.test(reason))?.[1];
}
