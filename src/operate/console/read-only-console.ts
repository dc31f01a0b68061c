import { RequestError } from '../../errors.ts';
import type { Context } from '../../rest/resource.ts';

const WRITING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Paths whose requests write nothing, in spite of their method. `/ui/sql/run` refuses writing statements itself. */
const READING =
  /^\/ui\/(?:connector-plugins\/[^/]+\/validate|connectors\/[^/]+\/messages|sql\/(?:login|logout|run))\/?$/;

/**
 * Refuses requests under `/ui` that may write. Previews are refused because they write and roll back; lists of tables
 * and examinations of connections are refused too. Called if `console.read.only` is set.
 * @throws RequestError 403
 */
export function refuseWrites({ method, path }: Context): void {
  if (path.startsWith('/ui/') && WRITING.has(method) && !READING.test(path))
    throw new RequestError(403, 'The console of this worker is read only (console.read.only)');
}
