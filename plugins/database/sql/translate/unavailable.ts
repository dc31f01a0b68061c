import type { TokenReader } from '../token-reader.ts';
import { Refused } from './translation.ts';

/** First words of statements that only the original database supports, and what to write instead. */
const UNAVAILABLE: readonly (readonly [words: string, instead: string])[] = [
  ['SHOW GRANTS', 'write SELECT grantee, table_name, privilege_type FROM information_schema.table_privileges'],
  [
    'SHOW SESSIONS',
    'GET /restapi/session lists the sessions here, SELECT * FROM pg_stat_activity those of the database',
  ],
  ['SHOW QUERIES', "write SELECT pid, query FROM pg_stat_activity WHERE state = 'active'"],
  ['SHOW STATISTICS', 'write SELECT * FROM pg_stats'],
  ['SHOW RETENTIONS', 'rows are kept until they are deleted'],
  ['SHOW PARTITIONS', 'write SELECT * FROM pg_partition_tree(…)'],
  ['SHOW ZONE', 'PostgreSQL has no zones'],
  ['SHOW RANGES', 'PostgreSQL has no ranges'],
  ['SHOW JOBS', 'PostgreSQL has no jobs'],
  ['SHOW SCHEDULES', 'PostgreSQL has no schedules'],
  ['SHOW STREAMS', 'PostgreSQL has no streams'],
  ['SHOW PIPES', 'GET /connectors lists the connectors that move data'],
  ['CREATE STREAM', 'write CREATE MATERIALIZED VIEW, or a trigger'],
  ['DROP STREAM', 'write DROP MATERIALIZED VIEW'],
  ['CREATE PIPE', 'make a source connector with POST /connectors'],
  ['ALTER PIPE', 'change the connector with PUT /connectors/{name}/config'],
  ['DROP PIPE', 'remove the connector with DELETE /connectors/{name}'],
  ['CREATE SCHEDULE', 'run the statement from a scheduler outside the database'],
  ['ALTER SCHEDULE', 'run the statement from a scheduler outside the database'],
  ['DROP SCHEDULE', 'run the statement from a scheduler outside the database'],
  ['CREATE AUDIT', 'set log_statement in the configuration of PostgreSQL'],
  ['ALTER TS DATABASE', 'rows are kept until they are deleted: run DELETE FROM … WHERE time < … at intervals'],
  ['INSERT WITHOUT SCHEMA', 'POST /restapi/linedb creates tables and columns from the data'],
  ['IMPORT TABLE', 'write COPY … FROM in a client of PostgreSQL, or POST the rows to /restapi/linedb'],
  ['IMPORT INTO', 'write COPY … FROM in a client of PostgreSQL, or POST the rows to /restapi/linedb'],
  ['IMPORT DATABASE', 'run pg_restore'],
  ['EXPORT', 'write COPY … TO in a client of PostgreSQL, or use a source connector'],
  ['BACKUP', 'run pg_dump'],
  ['RESTORE', 'run pg_restore'],
];

const UNKNOWN_PRIVILEGES: ReadonlyMap<string, string> = new Map([
  ['DROP', 'only the owner of a table can drop it: write ALTER TABLE … OWNER TO …'],
  ['GRANT', 'write GRANT … WITH GRANT OPTION'],
  ['ZONECONFIG', 'PostgreSQL has no zones'],
]);

/** Table privileges that the original database also grants on databases. */
const TABLE_PRIVILEGES: ReadonlySet<string> = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']);

/** Returns why a statement cannot run and what to write instead; `undefined` for other statements. */
export function unavailable(reader: TokenReader): string | undefined {
  for (const [words, instead] of UNAVAILABLE) {
    if (reader.isWords(...words.split(' '))) return `${words} is not available on PostgreSQL: ${instead}`;
  }
  return reader.isWords('GRANT') || reader.isWords('REVOKE') ? unavailablePrivilege(reader) : undefined;
}

/** Checks `GRANT privilege, … ON [DATABASE] …`. Grants of roles have no ON. */
function unavailablePrivilege(reader: TokenReader): string | undefined {
  const verb = reader.keyword() ?? '';
  const direction = verb === 'GRANT' ? 'TO' : 'FROM';
  const privileges: string[] = [];
  const first = reader.isWords('REVOKE', 'GRANT', 'OPTION', 'FOR') ? 4 : 1;
  for (let ahead = first; ; ahead += 1) {
    const word = reader.keyword(ahead);
    if (word === 'ON') {
      if (reader.keyword(ahead + 1) === 'DATABASE') break;
      return unknownPrivilege(privileges);
    }
    if (word === undefined && !reader.isSign(',', ahead)) return undefined;
    if (word !== undefined) privileges.push(word);
  }
  const tablePrivilege = privileges.find((privilege) => TABLE_PRIVILEGES.has(privilege));
  if (tablePrivilege === undefined) return unknownPrivilege(privileges);
  return (
    `${tablePrivilege} is a privilege of tables on PostgreSQL: ` +
    `write ${verb} ${tablePrivilege} ON ALL TABLES IN SCHEMA public ${direction} …`
  );
}

function unknownPrivilege(privileges: readonly string[]): string | undefined {
  for (const privilege of privileges) {
    const instead = UNKNOWN_PRIVILEGES.get(privilege);
    if (instead !== undefined) return `PostgreSQL has no privilege ${privilege}: ${instead}`;
  }
  return undefined;
}

/** Throws Refused for `GRANT | REVOKE admin`. The original database always has this role. */
export function refuseAdminRole(reader: TokenReader): void {
  if (!reader.isWords('GRANT', 'ADMIN', 'TO') && !reader.isWords('REVOKE', 'ADMIN', 'FROM')) return;
  throw new Refused(
    'this database has no role admin: write CREATE ROLE admin, whose members are administrators of this API, ' +
      'or ALTER ROLE … SUPERUSER for a user who may do everything',
    '42704',
  );
}
