import type Koa from 'koa';
import { isOfConsole } from './cross-origin.ts';

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** Every answer below `/ui`, an error too: no other page shows, runs or keeps it. */
export const consoleHeaders: Koa.Middleware = async (context, next) => {
  if (isOfConsole(context.path)) context.set(HEADERS);
  await next();
};
