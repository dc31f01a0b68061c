import { openApiResource } from '../../src/rest/open-api-resource.ts';
import type { Route } from '../../src/rest/resource.ts';
import { served, type ServedParts } from '../../src/worker/routes.ts';

/** Replaces every part of a worker. Routes that are built with it have declarations, but cannot handle requests. */
const anything: object = new Proxy(() => anything, { get: () => anything, apply: () => anything });

/** Returns all routes of the management API, including those of the console and of `/admin`. */
export function managementRoutes(): readonly Route[] {
  const { routes } = served(anything as ServedParts);
  const all = [...routes.main, ...routes.admin];
  return [...all, openApiResource(all)];
}
