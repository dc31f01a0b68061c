import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const ID = /^[\w.:/+=@-]{1,128}$/;

/** The id of a request in answers and logs: that of its header `X-Request-Id` if it has up to 128 letters, digits and signs, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && ID.test(given) ? given : randomUUID();
}
