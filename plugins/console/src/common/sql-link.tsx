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

/** Returns the address that opens a statement in the SQL view; `undefined` if that view has another server than the connector. */
export function sqlAddressAt(found: ConnectorDatabase | undefined, statement: string): string | undefined {
  return found?.isOfSql === true && found.place !== null ? sqlAddress(statement, found.place.database) : undefined;
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
