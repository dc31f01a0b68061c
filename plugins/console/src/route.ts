import { computed, signal } from '@preact/signals';
import type { Filters } from './fleet-row.ts';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export type Route =
  | { readonly view: 'fleet'; readonly filters: Filters }
  | { readonly view: 'cluster' }
  | { readonly view: 'connector'; readonly name: string };

export const CLUSTER_ADDRESS = '#/cluster';

/** The view that the address names: `#/?state=FAILED&text=orders`, `#/connectors/orders`. */
export const route = computed<Route>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#/, '').split('?', 2);
  const [, name] = /^\/connectors\/([^/]+)$/.exec(path) ?? [];
  if (name !== undefined) return { view: 'connector', name: decoded(name) };
  if (`#${path}` === CLUSTER_ADDRESS) return { view: 'cluster' };
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

export function connectorAddress(name: string): string {
  return `#/connectors/${encodeURIComponent(name)}`;
}

/** Typing in a filter is no step of its own in the history of the browser. */
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
