import { computed, signal } from '@preact/signals';
import { inPath } from './api.ts';
import type { Filters } from './fleet-row.ts';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

/** The parts of the connector view. The first is the default: its name is left out of the address. */
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

/** The parts of the view of the cluster. */
export const CLUSTER_PARTS = ['workers', 'plugins', 'loggers', 'topics'] as const;
export type ClusterPart = (typeof CLUSTER_PARTS)[number];

export type Route =
  | { readonly view: 'fleet'; readonly filters: Filters }
  | { readonly view: 'connector'; readonly name: string; readonly part: ConnectorPart }
  | { readonly view: 'create' }
  | { readonly view: 'sql' }
  | { readonly view: 'cluster'; readonly part: ClusterPart };

export const CREATE_ADDRESS = '#/create';
export const SQL_ADDRESS = '#/sql';

/** The view that the address names: `#/?state=FAILED&text=orders`, `#/connectors/orders/offsets`. */
export const route = computed<Route>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#/, '').split('?', 2);
  const [, view = '', first = '', second = ''] = path.split('/').map(decoded);
  if (view === 'connectors' && first !== '') {
    return { view: 'connector', name: first, part: CONNECTOR_PARTS.find((part) => part === second) ?? 'overview' };
  }
  if (view === 'cluster') return { view, part: CLUSTER_PARTS.find((part) => part === first) ?? 'workers' };
  if (view === 'create') return { view };
  if (view === 'sql') return { view };
  const parameters = new URLSearchParams(query);
  const of = (key: string): string => parameters.get(key) ?? '';
  const filters = {
    text: of('text'),
    verdict: of('state'),
    type: of('type'),
    className: of('class'),
    worker: of('worker'),
    topic: of('topic'),
  };
  return { view: 'fleet', filters };
});

export function fleetAddress(filters: Partial<Filters> = {}): string {
  const { text, verdict, type, className, worker, topic } = filters;
  const given = Object.entries({ text, state: verdict, type, class: className, worker, topic }).flatMap(
    ([key, value]) => (value === undefined || value === '' ? [] : [[key, value]]),
  );
  return given.length === 0 ? '#/' : `#/?${new URLSearchParams(given).toString()}`;
}

export function connectorAddress(name: string, part: ConnectorPart = 'overview'): string {
  const address = `#/connectors/${inPath(name)}`;
  return part === 'overview' ? address : `${address}/${part}`;
}

export function clusterAddress(part: ClusterPart = 'workers'): string {
  return part === 'workers' ? '#/cluster' : `#/cluster/${part}`;
}

/** Sets the filters without a new entry in the browser history, because each typed character would add one. */
export function replaceFilters(filters: Filters): void {
  history.replaceState(null, '', fleetAddress(filters));
  hash.value = location.hash;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
