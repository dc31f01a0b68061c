import type Koa from 'koa';
import { allowOrigin } from '../http/cross-origin.ts';
import { javaRegexMatcher } from '../java/java-regex.ts';

export interface CrossOrigin {
  /** `access.control.allow.origin`: `*`, or origins (or patterns of them) separated by commas; empty: nothing is allowed. */
  readonly origins: string;
  /** `access.control.allow.methods`; empty: GET, POST and HEAD. */
  readonly methods: string;
}

const DEFAULT_METHODS = 'GET,POST,HEAD';
const PREFLIGHT_MAX_AGE_S = 60;
/** `Content-Type`, as in Jetty, and the header that a browser needs to log in. */
const ALLOWED_HEADERS = 'Content-Type,Authorization';

/** Properties of a request that middleware passes to later middleware. */
export interface RequestState {
  /** A preflight request of an origin that is allowed; it has no credentials. */
  isPreflight?: boolean;
  /** The user of basic authentication. */
  user?: string;
}

/** Tells browsers which origins and methods are allowed. */
export function crossOrigin({ origins, methods }: CrossOrigin): Koa.Middleware {
  const isAllowed = originTest(origins);
  const isAllowedForConsole = consoleOriginTest(origins);
  const allowedMethods = entries(methods).join(',') || DEFAULT_METHODS;
  return async (context, next) => {
    const isPreflight = allowOrigin(context.req, context.res, {
      isAllowed: isOfConsole(context.path) ? isAllowedForConsole : isAllowed,
      methods: allowedMethods,
      requestHeaders: ALLOWED_HEADERS,
      maxAgeS: PREFLIGHT_MAX_AGE_S,
    });
    const state: RequestState = context.state;
    if (isPreflight) state.isPreflight = true;
    await next();
  };
}

/**
 * Returns a test for origins. An entry is an origin, an origin with `*` for any part of it (`https://*.example.org`),
 * or a regular expression. Plain origins are compared literally. Jetty treats them as regular expressions too, so that
 * `a.example` would match `a-example`.
 */
export function originTest(origins: string): (origin: string) => boolean {
  const tests = entries(origins).map((entry) => {
    if (/[\\^$()[\]{}|+?]|\.\*/.test(entry)) return javaRegexMatcher(`(?i)${entry}`);
    const parts = entry.toLowerCase().split('*');
    return (origin: string) => fits(origin.toLowerCase(), parts);
  });
  return (origin) => tests.some((test) => test(origin));
}

const CONSOLE = /^\/ui(?:\/|$)/;
const ANY_ORIGIN = ['http://anybody.invalid', 'https://anybody.invalid:8443'];

export function isOfConsole(path: string): boolean {
  return CONSOLE.test(path);
}

/**
 * Like `originTest`, for the paths under `/ui`, which are meant for the console's own page: an entry that allows every
 * origin is ignored.
 */
export function consoleOriginTest(origins: string): (origin: string) => boolean {
  const named = entries(origins).filter((entry) => !ANY_ORIGIN.some(originTest(entry)));
  return originTest(named.join(','));
}

/** Whether a text consists of these parts in their order, with anything between them. */
function fits(text: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return text === first;
  let at = first.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

function entries(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
