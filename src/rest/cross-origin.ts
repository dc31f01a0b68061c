import type Koa from 'koa';

export interface CrossOrigin {
  /** `access.control.allow.origin`: `*`, or origins (or patterns of them) separated by commas; empty: nothing is allowed. */
  readonly origins: string;
  /** `access.control.allow.methods`; empty: GET, POST and HEAD. */
  readonly methods: string;
}

const DEFAULT_METHODS = 'GET,POST,HEAD';
const PREFLIGHT_MAX_AGE_S = '60';
const ALLOWED_HEADERS = 'Content-Type,Accept,Authorization,X-Requested-With,Origin';

/** Tells browsers from which origins and with which methods they may call; a preflight is answered at once. */
export function crossOrigin({ origins, methods }: CrossOrigin): Koa.Middleware {
  const isAllowed = originTest(origins);
  const allowedMethods = entries(methods).join(',') || DEFAULT_METHODS;
  return async (context, next) => {
    const origin = context.get('Origin');
    context.vary('Origin');
    const isPreflight = context.method === 'OPTIONS' && context.get('Access-Control-Request-Method') !== '';
    const isFromAllowed = origin !== '' && isAllowed(origin);
    if (isFromAllowed) context.set('Access-Control-Allow-Origin', origin);
    if (!isFromAllowed || !isPreflight) {
      await next();
      return;
    }
    context.set({
      'Access-Control-Allow-Methods': allowedMethods,
      'Access-Control-Allow-Headers': ALLOWED_HEADERS,
      'Access-Control-Max-Age': PREFLIGHT_MAX_AGE_S,
    });
    context.status = 200;
    context.body = '';
  };
}

/** An entry is an origin, or one with `*` for any part of it (`https://*.example.org`). */
function originTest(origins: string): (origin: string) => boolean {
  const patterns = entries(origins).map((entry) => {
    const parts = entry.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`, 'i');
  });
  return (origin) => patterns.some((pattern) => pattern.test(origin));
}

function entries(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
