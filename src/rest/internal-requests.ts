import type { Context } from './resource.ts';

/** Requests between workers. They are signed with the session key of the cluster, and have no user credentials. */
const INTERNAL = [
  { method: 'POST', path: /^\/?connectors\/[^/]+\/tasks\/?$/ },
  { method: 'PUT', path: /^\/?connectors\/[^/]+\/fence\/?$/ },
  { method: 'PUT', path: /^\/?cluster\/drain\/?$/ },
];

export function isInternal({ method, path: asked }: Pick<Context, 'method' | 'path'>): boolean {
  return INTERNAL.some(({ method: allowed, path }) => allowed === method && path.test(asked));
}
