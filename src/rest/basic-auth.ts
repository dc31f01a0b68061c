import { createHash, timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import type { RequestState } from './cross-origin.ts';
import { isInternal } from './internal-requests.ts';

/** Users and the hashes of their passwords. */
export type Credentials = ReadonlyMap<string, Buffer>;

const CONSOLE = /^\/ui(?:\/|$)/;

/** Passwords are kept and compared as hashes, so that the time of a comparison does not depend on their length. */
export function credentials(users: Readonly<Record<string, string>>): Credentials {
  return new Map(Object.entries(users).map(([user, password]) => [user, digest(password)]));
}

/**
 * Like BasicAuthSecurityRestExtension, answers 401 with plain text and, except under `/ui`, without `WWW-Authenticate`.
 */
export function basicAuth(known: Credentials): Koa.Middleware {
  return async (context, next) => {
    const state: RequestState = context.state;
    const user = knownUser(known, context.get('Authorization'));
    if (user !== undefined) state.user = user;
    if (isInternal(context) || state.isPreflight === true || user !== undefined) {
      await next();
      return;
    }
    context.status = 401;
    context.set('Content-Type', 'text/plain');
    // A browser asks its user for credentials only if this header is present. Afterwards it sends them to all paths of
    // the API.
    if (CONSOLE.test(context.path)) context.set('WWW-Authenticate', 'Basic realm="Sluice", charset="UTF-8"');
    context.body = 'User cannot access the resource.';
  };
}

/** The user that the header authenticates; `undefined`: the header is missing, or user and password do not match. */
function knownUser(known: Credentials, header: string): string | undefined {
  const [, encoded] = /^Basic +(\S+)$/i.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return undefined;
  const user = pair.slice(0, colon);
  const expected = known.get(user);
  const given = digest(pair.slice(colon + 1));
  return timingSafeEqual(given, expected ?? digest('')) && expected !== undefined ? user : undefined;
}

function digest(password: string): Buffer {
  return createHash('sha256').update(password).digest();
}
