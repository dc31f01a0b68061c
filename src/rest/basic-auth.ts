import { createHash, timingSafeEqual } from 'node:crypto';
import type Koa from 'koa';
import type { RequestState } from './cross-origin.ts';

/** Users and what their passwords come to. */
export type Credentials = ReadonlyMap<string, Buffer>;

/** Requests between workers are signed instead. */
const INTERNAL = [
  { method: 'POST', path: /^\/?connectors\/[^/]+\/tasks\/?$/ },
  { method: 'PUT', path: /^\/?connectors\/[^/]+\/fence\/?$/ },
];

/** Passwords are kept and compared as hashes, so that their lengths make no difference in time. */
export function credentials(users: Readonly<Record<string, string>>): Credentials {
  return new Map(Object.entries(users).map(([user, password]) => [user, digest(password)]));
}

/** BasicAuthSecurityRestExtension: 401 with plain text and, as there, without `WWW-Authenticate`. */
export function basicAuth(known: Credentials): Koa.Middleware {
  return async (context, next) => {
    const isInternal = INTERNAL.some(({ method, path }) => method === context.method && path.test(context.path));
    const { isPreflight = false }: RequestState = context.state;
    if (isInternal || isPreflight || isKnown(known, context.get('Authorization'))) {
      await next();
      return;
    }
    context.status = 401;
    context.set('Content-Type', 'text/plain');
    context.body = 'User cannot access the resource.';
  };
}

function isKnown(known: Credentials, header: string): boolean {
  const [, encoded] = /^Basic +(\S+)$/i.exec(header) ?? [];
  if (encoded === undefined) return false;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 0) return false;
  const expected = known.get(pair.slice(0, colon));
  const given = digest(pair.slice(colon + 1));
  return timingSafeEqual(given, expected ?? digest('')) && expected !== undefined;
}

function digest(password: string): Buffer {
  return createHash('sha256').update(password).digest();
}
