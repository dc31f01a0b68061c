import type Koa from 'koa';
import type { HeaderRule } from '../config/rest-validators.ts';

/** Adds the headers of `response.http.headers.config` to every answer; dates are so many milliseconds from now. */
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
