import { computed, signal } from '@preact/signals';
import {
  CLUSTER_PARTS,
  CONNECTOR_PARTS,
  fleetAddress,
  type ClusterPart,
  type ConnectorPart,
  type Hints,
} from './addresses.ts';
import type { Filters } from './fleet-row.ts';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export type Route =
  | { readonly view: 'fleet'; readonly filters: Filters }
  | { readonly view: 'connector'; readonly name: string; readonly part: ConnectorPart }
  | { readonly view: 'create' }
  | { readonly view: 'unknown' }
  | { readonly view: 'sql' }
  | { readonly view: 'cluster'; readonly part: ClusterPart };

/** The view that the address names: `#/?state=FAILED&text=orders`, `#/connectors/orders/offsets`. */
export const route = computed<Route>(() => routeOf(hash.value));

/** The connector that the address opens; `undefined` if it opens something else. */
export function connectorAt(address: string): { readonly name: string } | undefined {
  const found = address.startsWith('#') ? routeOf(address) : undefined;
  return found?.view === 'connector' ? found : undefined;
}

function routeOf(address: string): Route {
  const [path = '', query = ''] = address.replace(/^#/, '').split('?', 2);
  const [, view = '', first = '', second = ''] = path.split('/').map(decoded);
  if (view === 'connectors' && first !== '') {
    const part = CONNECTOR_PARTS.find((each) => each === (second === '' ? 'overview' : second));
    return part === undefined ? { view: 'unknown' } : { view: 'connector', name: first, part };
  }
  if (view === 'cluster') {
    const part = CLUSTER_PARTS.find((each) => each === (first === '' ? 'workers' : first));
    return part === undefined ? { view: 'unknown' } : { view, part };
  }
  if (view === 'create') return { view };
  if (view === 'sql') return { view };
  if (view !== '') return { view: 'unknown' };
  const parameters = new URLSearchParams(query);
  const of = (key: string): string => parameters.get(key) ?? '';
  // Addresses of earlier versions may have the parameter `topic` instead of `text`.
  const text = of('text') === '' ? of('topic') : of('text');
  const filters = { text, verdict: of('state'), type: of('type'), className: of('class'), worker: of('worker') };
  return { view: 'fleet', filters: { ...filters, sort: of('sort') } };
}

/** The hints of the address: `#/connectors/orders/configuration?focus=topics`. */
export const hints = computed<Hints>(() => Object.fromEntries(new URLSearchParams(hash.value.split('?', 2)[1] ?? '')));

/** Sets the filters. It replaces the current entry of the browser history, because otherwise each typed character would add an entry. */
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
