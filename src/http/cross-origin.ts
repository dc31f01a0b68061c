import type { IncomingMessage, ServerResponse } from 'node:http';

/** The rights of pages of other origins (Fetch, "CORS protocol"). */
export interface CrossOriginRules {
  readonly isAllowed: (origin: string) => boolean;
  /** Methods that a page may use; `undefined`: the path is unknown, so no preflight is answered. */
  readonly methods: string | undefined;
  /** Headers that a page may send, in addition to those that every page may send. */
  readonly requestHeaders: string;
  /** Headers of the answer that a page may read, in addition to those that every page may read. */
  readonly exposedHeaders?: string;
  /** Seconds for which browsers may cache the answer to a preflight. */
  readonly maxAgeS: number;
}

/**
 * Sets the CORS headers of an answer. Returns whether the request is a preflight of an allowed origin. A browser sends
 * a preflight, without credentials, to ask whether it may send the actual request.
 */
export function allowOrigin(request: IncomingMessage, response: ServerResponse, rules: CrossOriginRules): boolean {
  const { origin = '', 'access-control-request-method': asked = '' } = request.headers;
  response.setHeader('Vary', 'Origin');
  if (origin === '' || !rules.isAllowed(origin)) return false;
  response.setHeader('Access-Control-Allow-Origin', origin);
  if (request.method !== 'OPTIONS' || asked === '' || rules.methods === undefined) {
    if (rules.exposedHeaders !== undefined) {
      response.setHeader('Access-Control-Expose-Headers', rules.exposedHeaders);
    }
    return false;
  }
  response.setHeader('Access-Control-Allow-Methods', rules.methods);
  response.setHeader('Access-Control-Allow-Headers', rules.requestHeaders);
  response.setHeader('Access-Control-Max-Age', String(rules.maxAgeS));
  return true;
}
