import { RequestError } from '../../errors.ts';
import type { Context } from '../../rest/resource.ts';

const WRITING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Requests with these methods that write nothing; `/ui/sql/run` checks its statements itself. */
const READING =
  /^\/ui\/(?:connector-plugins\/[^/]+\/validate|connectors\/[^/]+\/messages|sql\/(?:login|logout|run))\/?$/;

/**
 * Refuses requests under `/ui` that may write, and previews, which write and roll back. Called if `console.read.only`
 * is set.
 * @throws RequestError 403
 */
export function refuseWrites({ method, path }: Context): void {
  if (path.startsWith('/ui/') && WRITING.has(method) && !READING.test(path))
    throw new RequestError(403, 'The console of this worker is read only (console.read.only)');
}
