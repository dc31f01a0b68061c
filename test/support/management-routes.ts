import { openApiResource } from '../../src/rest/open-api-resource.ts';
import type { Route } from '../../src/rest/resource.ts';
import { served, type ServedParts } from '../../src/worker/routes.ts';

/** Replaces every part of a worker: routes that are built with it are declared, but cannot answer. */
const anything: object = new Proxy(() => anything, { get: () => anything, apply: () => anything });

/** All routes of the management API, those of the console and of `/admin` too. */
export function managementRoutes(): readonly Route[] {
  const { routes } = served(anything as ServedParts);
  const all = [...routes.main, ...routes.admin];
  return [...all, openApiResource(all)];
}
