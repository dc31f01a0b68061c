import { RequestError } from '../../errors.ts';
import type { Context } from '../../rest/resource.ts';

const WRITING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** These have a body and write nothing; statements are looked at by `/ui/sql/run` itself. */
const READING =
  /^\/ui\/(?:connector-plugins\/[^/]+\/validate|connectors\/[^/]+\/messages|sql\/(?:login|logout|run))\/?$/;

/**
 * With `console.read.only`: whatever may write below `/ui`, and a preview, which writes and rolls back, is refused.
 * @throws RequestError 403
 */
export function refuseWrites({ method, path }: Context): void {
  if (path.startsWith('/ui/') && WRITING.has(method) && !READING.test(path))
    throw new RequestError(403, 'The console of this worker is read only (console.read.only)');
}
