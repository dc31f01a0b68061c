import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type Koa from 'koa';
import { RequestError } from '../errors.ts';
import { consoleOriginTest, isOfConsole, originTest } from './cross-origin.ts';
import { HttpError } from './error-mapping.ts';

/** The addresses under which clients know this worker; complete once it listens. */
export interface OwnAddress {
  /** `protocol://host:port`. */
  url: string;
  /** Names of the listeners and the advertised one. */
  names: readonly string[];
}

export interface RequestOriginRules {
  /**
   * `allowed.hosts`: names in addition to those that are always allowed. `*.example.org` allows all names under a
   * domain, `*` every name.
   */
  readonly allowedHosts: readonly string[];
  /** `access.control.allow.origin`. */
  readonly allowedOrigins: string;
  readonly own: OwnAddress;
}

/** Names with these suffixes cannot be registered, so no web site has one. */
const PRIVATE_SUFFIXES = ['.localhost', '.local', '.internal', '.svc'];
/** The page and its files, which other sites may link to. */
const PAGE = /^\/ui(?:\/assets\/[^/]+)?\/?$/;
const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Prevents web sites from sending requests to the worker through the browsers of users who can reach it.
 *
 * A site whose name resolves to the worker's address (DNS rebinding) is detected by the name in `Host`. Allowed are IP
 * addresses, names without a dot (`connect`, as in containers), names under `localhost`, `local`, `internal` and `svc`
 * (as in Kubernetes), the names of this machine and of the listeners, the advertised name, and `allowed.hosts`. A
 * request for any other name is answered with status 403.
 *
 * A browser names the site of a writing request in `Origin`. A request from another site, or from the same host with
 * another scheme, is answered with status 403, with or without a body, unless `access.control.allow.origin` allows it.
 * Programs send no `Origin`.
 *
 * Paths under `/ui` are for the console's own page. There, reading requests from another site are refused too, because
 * they may keep a stream open. The page and its files are excepted. An origin is allowed only if it is named, not by a
 * pattern that matches every origin.
 *
 * A POST, PUT or PATCH request with a content type other than JSON is answered with status 415, as in Java. Some
 * clients declare a request without content as a form. This is allowed unless a browser sends it. Signed requests of
 * other workers may have any content type.
 */
export function requestOrigin({ allowedHosts, allowedOrigins, own }: RequestOriginRules): Koa.Middleware {
  const isAllowedOrigin = originTest(allowedOrigins);
  const isAllowedForConsole = consoleOriginTest(allowedOrigins);
  return async (context, next) => {
    const name = nameOf(context.get('Host'));
    if (!isAllowedHost(name, allowedHosts, own)) {
      throw new RequestError(
        403,
        `The request is for host "${name.slice(0, 253)}", which is not a known name of this worker. If it is one, add it to allowed.hosts in the worker's properties`,
      );
    }
    context.state['ownUrl'] = own.url;
    const isWrite = WRITES.has(context.method);
    const isConsole = isOfConsole(context.path);
    const origin = context.get('Origin');
    if ((isWrite || (isConsole && !PAGE.test(context.path))) && isForeign(context)) {
      const isAllowed = isConsole ? isAllowedForConsole : isAllowedOrigin;
      if (origin === '' || !isAllowed(origin)) {
        throw new RequestError(
          403,
          "The request comes from a page of another origin; add the origin to access.control.allow.origin in the worker's properties to allow it",
        );
      }
    }
    if (isWrite) {
      // Requests between workers are signed, with a header that no page can send.
      const isSigned = context.get('X-Connect-Authorization') !== '' && origin === '';
      const isChecked = context.method !== 'DELETE' && !isSigned;
      if (isChecked && !isTakenType(context.get('Content-Type'), origin)) throw new HttpError(415);
    }
    await next();
  };
}

/**
 * Whether a page of another origin sends the request. Browsers send the origin of writing requests. For reading
 * requests, some send only whether the origin is a different one.
 */
function isForeign(context: Koa.Context): boolean {
  const origin = context.get('Origin');
  if (origin !== '') return origin.toLowerCase() !== `${schemeOf(context)}://${context.get('Host').toLowerCase()}`;
  const site = context.get('Sec-Fetch-Site').toLowerCase();
  return site === 'cross-site' || site === 'same-site';
}

function isTakenType(contentType: string, origin: string): boolean {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  return type === '' || type === 'application/json' || (type === 'application/x-www-form-urlencoded' && origin === '');
}

/** A proxy that terminates TLS sends the scheme. Pages of other origins cannot send this header without permission. */
function schemeOf(context: Koa.Context): string {
  if (context.protocol === 'https') return 'https';
  return context.get('X-Forwarded-Proto').trim().toLowerCase() === 'https' ? 'https' : 'http';
}

function isAllowedHost(name: string, allowed: readonly string[], own: OwnAddress): boolean {
  if (name === '' || isIP(name) !== 0 || !name.includes('.')) return true;
  if (PRIVATE_SUFFIXES.some((suffix) => name.endsWith(suffix))) return true;
  if (own.names.includes(name) || name === hostname().toLowerCase()) return true;
  return allowed.some((entry) => {
    const wanted = entry.toLowerCase();
    return wanted === '*' || wanted === name || (wanted.startsWith('*.') && name.endsWith(wanted.slice(1)));
  });
}

/** The host without its port and brackets. */
export function nameOf(host: string): string {
  const text = host.trim().toLowerCase();
  if (text.startsWith('[')) return text.slice(1, text.indexOf(']'));
  const colon = text.lastIndexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
