import { inPath } from './api.ts';
import type { Filters } from './fleet-row.ts';

/** The tabs of the connector view. The first one is the default, so its name is left out of the address. */
export const CONNECTOR_PARTS = [
  'overview',
  'dead-letters',
  'data',
  'configuration',
  'offsets',
  'history',
  'log',
] as const;
export type ConnectorPart = (typeof CONNECTOR_PARTS)[number];

/** The tabs of the cluster view. */
export const CLUSTER_PARTS = ['workers', 'plugins', 'loggers', 'topics'] as const;
export type ClusterPart = (typeof CLUSTER_PARTS)[number];

/** Parameters that a link passes to the view that it opens, such as the field to focus. */
export type Hints = Readonly<Record<string, string>>;

export const CREATE_ADDRESS = '#/create';
export const SQL_ADDRESS = '#/sql';

export function fleetAddress(filters: Partial<Filters> = {}): string {
  const { text, verdict, type, className, worker, sort } = filters;
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({ text, state: verdict, type, class: className, worker, sort }))
    if (value !== undefined && value !== '') query.set(key, value);
  return query.size === 0 ? '#/' : `#/?${query.toString()}`;
}

export function connectorAddress(name: string, part: ConnectorPart = 'overview', asked: Hints = {}): string {
  const address = `#/connectors/${inPath(name)}`;
  const query = new URLSearchParams(asked).toString();
  return (part === 'overview' ? address : `${address}/${part}`) + (query === '' ? '' : `?${query}`);
}

/**
 * Returns the address that opens the SQL view with this statement in the editor, for this database. The statement is not run. The view
 * has a link back to the address `from`.
 */
export function sqlAddress(statement: string, database: string, from: string): string {
  return `${SQL_ADDRESS}?${new URLSearchParams({ statement, database, from }).toString()}`;
}

export function clusterAddress(part: ClusterPart = 'workers'): string {
  return part === 'workers' ? '#/cluster' : `#/cluster/${part}`;
}
