import type { DatabasePlace } from '../../../src/data/database-place.ts';
import { parseConnectionUrl } from './connection-url.ts';

/** A configuration without a user names the same database as with one. */
const ANY_USER = 'any';
/** Names of the own machine. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * Returns the database that a connection URL names. Connects to no server. Returns `undefined` if the URL is invalid, if
 * a config provider supplies a part of the address, or if the URL leaves open which of several servers or schemas is
 * used. `database` overrides the database in the URL.
 */
export function databasePlace(url: string, database?: string | null): DatabasePlace | undefined {
  try {
    const settings = parseConnectionUrl(url, { user: ANY_USER, database });
    const { servers, searchPath, target } = settings;
    if (servers.length > 1 && target === 'any') return undefined;
    const server = servers
      .map(({ host, port }) => `${hostText(host.toLowerCase())}:${String(port)}`)
      .sort()
      .join(',');
    if (searchPath !== undefined && !/^\w+$/.test(searchPath)) return undefined;
    const schema = searchPath?.toLowerCase();
    const place = { server, database: settings.database, ...(schema === undefined ? {} : { schema }) };
    return Object.values(place).some((part) => part.includes('${')) ? undefined : place;
  } catch {
    return undefined;
  }
}

function hostText(host: string): string {
  if (LOOPBACK.has(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
