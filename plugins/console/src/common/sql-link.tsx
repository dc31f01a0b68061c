import type { ConnectorDatabase } from './answers.ts';
import { connectorPath, request } from './api.ts';
import { sqlAddress } from './addresses.ts';
import { useLoaded } from '../kit/loaded.tsx';
import { texts } from '../texts/frame.ts';

/** Loads the database of a connector; `undefined` until it is known. */
export function useDatabase(name: string): ConnectorDatabase | undefined {
  return useLoaded(`database of ${name}`, () => request<ConnectorDatabase>('GET', `/ui${connectorPath(name)}/database`))
    .value;
}

/** Returns the address that opens a statement in the SQL view, which leads back here; `undefined` if it has another server. */
export function sqlAddressAt(found: ConnectorDatabase | undefined, statement: string): string | undefined {
  if (found?.isOfSql !== true || found.place === null) return undefined;
  const [from = ''] = location.hash.split('?', 1);
  return sqlAddress(statement, found.place.database, from);
}

interface SqlLinkProps {
  /** The database in which the statement must run; `undefined` while it is not known. */
  readonly database: ConnectorDatabase | undefined;
  readonly statement: string;
}

/** A link that opens a statement in the SQL view. If that view has another server, it names the server and the database instead. */
export function SqlLink({ database, statement }: SqlLinkProps) {
  const address = sqlAddressAt(database, statement);
  if (address !== undefined) return <a href={address}>{texts.openInSql}</a>;
  const { place = null } = database ?? {};
  return place === null ? null : <span class="quiet">{texts.runAt(place.server, place.database)}</span>;
}
