import { RequestError } from '../../errors.ts';
import type { Context, ResourceDependencies } from '../../rest/resource.ts';

const WRITING: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** These have a body and write nothing; statements are looked at by `/ui/sql/run` itself. */
const READING =
  /^\/ui\/(?:connector-plugins\/[^/]+\/validate|connectors\/[^/]+\/messages|sql\/(?:login|logout|run))\/?$/;

/** Whatever may write below `/ui`, and a preview, which writes and rolls back, is refused where `console.read.only` is set. @throws RequestError 403 */
export function refuseWrites({ method, path }: Context, settings: ResourceDependencies['console']): void {
  if (settings?.readOnly !== true || !path.startsWith('/ui/')) return;
  if (WRITING.has(method) && !READING.test(path))
    throw new RequestError(403, 'The console of this worker is read only (console.read.only)');
}
