import { RequestError } from '../../errors.ts';
import type { OwnRoute } from '../../rest/resource.ts';

/** These have a body and write nothing; statements are looked at by `/ui/sql/run` itself. */
const READING: ReadonlySet<string> = new Set([
  '/ui/connector-plugins/:plugin/validate',
  '/ui/connectors/:connector/messages',
  '/ui/sql/login',
  '/ui/sql/logout',
  '/ui/sql/run',
]);

/** With `console.read.only`: what may write, and a preview, which writes and rolls back, is refused with 403. */
export function readOnlyRoutes(routes: readonly OwnRoute[]): readonly OwnRoute[] {
  return routes.map((route) => {
    if (route.method === 'GET' || READING.has(route.path)) return route;
    return { ...route, handle: refuse };
  });
}

function refuse(): never {
  throw new RequestError(403, 'The console of this worker is read only (console.read.only)');
}
