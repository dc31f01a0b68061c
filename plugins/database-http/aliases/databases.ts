import { ownStatement, quoteIdentifier, translate } from '../../database/index.ts';
import { audit } from '../audit.ts';
import type { ApiRequest } from '../route.ts';

/** A database of the server. `oid` consists of decimal digits. */
export interface DatabaseEntry {
  readonly name: string;
  readonly oid: string;
}

const DATABASES = ownStatement(
  'influx: databases',
  `SELECT datname, oid FROM pg_catalog.pg_database WHERE datallowconn AND NOT datistemplate
    AND has_database_privilege(oid, 'CONNECT') ORDER BY datname`,
);
const FIND_DATABASE = ownStatement(
  'influx: look for a database',
  'SELECT oid FROM pg_catalog.pg_database WHERE datname = $1',
);

/** Lists the databases that the user may connect to, ordered by name. */
export async function listDatabases({ executor, clock, signal }: ApiRequest): Promise<readonly DatabaseEntry[]> {
  const { rows } = await clock.database(() => executor.ask(DATABASES, [], { signal }));
  return rows.map(([name, oid]) => ({ name: name ?? '', oid: oid ?? '' }));
}

/** Finds the database with this name; `undefined` if it does not exist. */
export async function findDatabase(name: string, request: ApiRequest): Promise<DatabaseEntry | undefined> {
  const { executor, clock, signal } = request;
  const { rows } = await clock.database(() => executor.ask(FIND_DATABASE, [name], { signal }));
  const oid = rows[0]?.[0];
  return oid === undefined || oid === null ? undefined : { name, oid };
}

/** Creates a time-series database with the rights of the user. Rejects with a DatabaseError if the database refuses that. */
export async function createDatabase(name: string, request: ApiRequest): Promise<void> {
  const { executor, clock, signal, database } = request;
  const translation = translate(`CREATE TS DATABASE ${quoteIdentifier(name)}`, { database, table: () => undefined });
  if (translation.kind !== 'run') throw new TypeError('CREATE TS DATABASE was not translated');
  let succeeded = false;
  try {
    for (const statement of translation.statements) {
      await clock.database(() => executor.query(statement, [], { signal }));
    }
    succeeded = true;
  } finally {
    audit(request, { statement: 'create', database, succeeded });
  }
}
