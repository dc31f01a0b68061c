import type Koa from 'koa';
import type { HeaderRule } from '../config/rest-validators.ts';
import { isOfConsole } from './cross-origin.ts';

/**
 * Adds the headers of `response.http.headers.config` to every answer. The value of a date header is its distance from
 * the time of the answer, in milliseconds.
 */
export function responseHeaders(rules: readonly HeaderRule[]): Koa.Middleware {
  return async (context, next) => {
    for (const { action, name, value } of rules) {
      const isDate = action.endsWith('Date');
      const text = isDate ? new Date(Date.now() + Number(value)).toUTCString() : value;
      if (action.startsWith('set')) context.set(name, text);
      else context.append(name, text);
    }
    await next();
  };
}

const CONSOLE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * Headers of every answer under `/ui`, including errors. They prevent other pages from showing or running the answer,
 * and browsers from storing it. The page and its files replace `Cache-Control`.
 */
export const consoleHeaders: Koa.Middleware = async (context, next) => {
  if (isOfConsole(context.path)) context.set(CONSOLE_HEADERS);
  await next();
};
