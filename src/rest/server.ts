import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { isIP } from 'node:net';
import type { TlsOptions } from 'node:tls';
import Router, { type RouterContext } from '@koa/router';
import Koa from 'koa';
import type { HeaderRule } from '../config/rest-validators.ts';
import { toError } from '../errors.ts';
import type { Herder } from '../herder/herder.ts';
import { clusterResource } from './cluster-resource.ts';
import { connectorPluginsResource } from './connector-plugins-resource.ts';
import { connectorsResource } from './connectors-resource.ts';
import { crossOrigin, type CrossOrigin } from './cross-origin.ts';
import { errorAnswer, HttpError } from './error-mapping.ts';
import { anywhere } from './forwarding.ts';
import { internalResource } from './internal-resource.ts';
import { metricsResource } from './metrics-resource.ts';
import { loggersResource } from './loggers-resource.ts';
import { offsetsResource } from './offsets-resource.ts';
import { previewResource } from './preview-resource.ts';
import { answer, withinTimeLimit, type Context, type Resource, type ResourceParts } from './resource.ts';
import { responseHeaders } from './response-headers.ts';
import { rootResource } from './root-resource.ts';
import { topicsResource } from './topics-resource.ts';

const RESOURCES = [
  rootResource,
  connectorsResource,
  offsetsResource,
  topicsResource,
  connectorPluginsResource,
  previewResource,
  internalResource,
  metricsResource,
  clusterResource,
];
const ADMIN_RESOURCES = [loggersResource];

const KEEP_ALIVE_MS = 30_000;
const CLOSE_GRACE_MS = 1000;

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

export interface RestSettings {
  /** Whether `/admin/loggers` answers at the same listeners, at its own, or nowhere. */
  readonly admin: 'shared' | 'apart' | 'off';
  readonly crossOrigin: CrossOrigin;
  readonly headerRules: readonly HeaderRule[];
  readonly extensions: readonly Koa.Middleware[];
}

/** The management API: Connect's REST interface over the herder. */
export class RestServer {
  readonly #handle: RequestListener;
  readonly #handleAdmin: RequestListener;
  readonly #servers: Server[] = [];

  constructor(parts: ResourceParts, settings: RestSettings) {
    const resources = settings.admin === 'shared' ? [...RESOURCES, ...ADMIN_RESOURCES] : RESOURCES;
    this.#handle = requestListener(resources, parts, settings);
    this.#handleAdmin = requestListener(ADMIN_RESOURCES, parts, settings);
  }

  /** Resolves with the port that is listened on (for port 0 the one the system chose). Call it once per listener. */
  async listen({ host, port, tls }: Listener, role: 'main' | 'admin' = 'main'): Promise<number> {
    const handle = role === 'main' ? this.#handle : this.#handleAdmin;
    const server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host === '' ? undefined : host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#servers.push(server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Lets running requests end for a second, then cuts them. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.splice(0).map(closeServer));
  }
}

function requestListener(resources: readonly Resource[], parts: ResourceParts, settings: RestSettings) {
  const router = new Router({ sensitive: true });
  for (const resource of resources) resource(router, parts);
  const app = new Koa();
  app.silent = true;
  if (settings.headerRules.length > 0) app.use(responseHeaders(settings.headerRules));
  app.use(errors(parts));
  if (settings.crossOrigin.origins.trim() !== '') app.use(crossOrigin(settings.crossOrigin));
  for (const extension of settings.extensions) app.use(extension);
  app.use(negotiation(router));
  app.use(readiness(parts.herder));
  const routes = router.routes();
  app.use(
    anywhere(parts, async (context, next) => {
      await routes(context as RouterContext, next);
    }),
  );
  app.use(() => {
    throw new HttpError(404);
  });
  const handle = app.callback();
  const listener: RequestListener = (request, response) => void handle(request, response);
  return listener;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => {
    server.closeAllConnections();
  }, CLOSE_GRACE_MS);
  await closed;
  clearTimeout(timer);
}

/** `host:port` as worker ids and advertised URLs show it. */
export function hostPort(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
}

function errors({ logger, secrets }: ResourceParts): Koa.Middleware {
  return async (context: Context, next) => {
    try {
      await next();
    } catch (thrown) {
      const { status, headers, body } = errorAnswer(thrown);
      if (status >= 500) logger.error({ err: toError(thrown) }, `${context.method} ${context.path} failed`);
      context.set(headers);
      answer(context, status, { ...body, message: secrets.hide(body.message) });
    }
  };
}

/** These answer at any time, a starting worker's operator needs them. */
const ALWAYS = /^\/(health|admin\/loggers(\/[^/]+)?)\/?$/;

/** Requests that come before the herder is up wait for it, as long as any request may take. */
function readiness(herder: Herder): Koa.Middleware {
  return async (context: Context, next) => {
    if (!herder.ready && !ALWAYS.test(context.path)) await withinTimeLimit(herder.stage, herder.whenReady());
    await next();
  };
}

/** 405 with the methods there are, `OPTIONS` with the same, 406 for a client that takes no JSON. */
function negotiation(router: Router): Koa.Middleware {
  return async (context: Context, next) => {
    const { path, pathAndMethod } = router.match(context.path, context.method);
    const methods = [...new Set(path.flatMap((layer) => layer.methods))];
    if (methods.length > 0) {
      const allow = [...methods, 'OPTIONS'].join(',');
      if (context.method === 'OPTIONS') {
        const asText = context.accepts('text/plain', 'application/json') === 'text/plain';
        context.status = 200;
        context.body = asText ? allow.replaceAll(',', ', ') : '';
        context.set({ Allow: allow, 'Content-Type': asText ? 'text/plain' : 'application/json' });
        return;
      }
      if (pathAndMethod.length === 0) throw new HttpError(405, { Allow: allow });
      if (context.accepts('application/json') === false) throw new HttpError(406);
    }
    await next();
  };
}
