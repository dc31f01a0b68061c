import { openApiResource } from './open-api-resource.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { TlsOptions } from 'node:tls';
import Router, { type RouterContext } from '@koa/router';
import Koa from 'koa';
import { addressGroup, plainAddress } from '../config/client-address.ts';
import type { HeaderRule } from '../config/rest-validators.ts';
import { RequestError, toError } from '../errors.ts';
import { PortListener, type PortTimeouts } from '../http/port-listener.ts';
import { eventLoopWatch } from '../observe/event-loop-watch.ts';
import type { Herder } from '../herder/herder.ts';
import type { Logger } from '../observe/logger.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { StageTracker } from '../observe/stage.ts';
import { AnswerBudget, type AnswerLimits } from './answer-budget.ts';
import { BodyBudget } from './body-budget.ts';
import { crossOrigin, type CrossOrigin } from './cross-origin.ts';
import { errorAnswer, HttpError } from './error-mapping.ts';
import { forwarding, type Forwarding } from './forwarding.ts';
import { isInternal } from './internal-requests.ts';
import { answer, REQUEST_TIMEOUT_MS, withinTimeLimit, type Context, type Route } from './resource.ts';
import { requestOrigin, type OwnAddress } from './request-origin.ts';
import { consoleHeaders, responseHeaders } from './response-headers.ts';
import { answerStarting } from './root-resource.ts';

const TIMEOUTS: Partial<PortTimeouts> = {
  headersTimeout: 15_000,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: 30_000,
};
const CLOSE_GRACE_MS = 1000;
/** Maximum length of a path in the warning about a blocked event loop. */
const MAX_NAMED_PATH = 200;

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

export interface RestSettings {
  /** Whether `/admin/loggers` is served on the same listeners, on listeners of its own, or not at all. */
  readonly admin: 'shared' | 'apart' | 'off';
  readonly crossOrigin: CrossOrigin;
  /** `allowed.hosts`. */
  readonly allowedHosts: readonly string[];
  /** Complete once the worker listens. */
  readonly own: OwnAddress;
  readonly headerRules: readonly HeaderRule[];
  readonly extensions: readonly Koa.Middleware[];
  /** Maximum number of connections of each listener: `rest.max.connections`. */
  readonly maxConnections: number;
  readonly timeouts?: Partial<PortTimeouts>;
  readonly answers?: Partial<AnswerLimits>;
}

/** A worker that is not built yet. */
export interface StartingWorker {
  /** The current stage of the worker's start. */
  readonly stage: StageTracker;
  /** Values that no answer may show. */
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

/** The routes that a listener has; `metrics`: only the metrics. Every listener also has `/openapi.json`. */
export type Role = 'main' | 'admin' | 'metrics';

/** The routes of a worker that is built, and the checks before them. */
export interface Served extends Omit<Forwarding, 'herder'> {
  readonly herder: Pick<Herder, 'ready' | 'stage' | 'whenReady' | 'catchUp'>;
  /** The first route that matches answers. `admin`: routes below `/admin`, and related ones. */
  readonly routes: Readonly<Record<Role, readonly Route[]>>;
  /** Throws if a request is refused before any route answers. */
  readonly check: (context: Context) => void;
}

type Handle = (context: Context, next: Koa.Next) => Promise<void>;

/**
 * The management API: Connect's REST interface over the herder.
 *
 *   listening (health answers, other requests wait) --serve--> the resources answer --close--> closed
 */
export class RestServer {
  readonly #starting: StartingWorker;
  readonly #settings: RestSettings;
  readonly #listeners: Readonly<Record<Role, RequestListener>>;
  readonly #open: PortListener[] = [];
  readonly #bodies = new BodyBudget();
  readonly #answers: AnswerBudget;
  #handles: Readonly<Record<Role, Handle>> | undefined;
  #serve: () => void = () => undefined;
  #refuse: (error: Error) => void = () => undefined;
  readonly #served = new Promise<void>((resolve, reject) => {
    this.#serve = resolve;
    this.#refuse = reject;
  });

  constructor(starting: StartingWorker, settings: RestSettings) {
    this.#starting = starting;
    this.#settings = settings;
    this.#answers = new AnswerBudget(settings.answers);
    this.#listeners = {
      main: this.#requestListener('main'),
      admin: this.#requestListener('admin'),
      metrics: this.#requestListener('metrics'),
    };
    // If no request waits when the server closes, nothing else handles the rejection.
    this.#served.catch(() => undefined);
  }

  /** Called when the worker is built. From then on, its routes answer new and waiting requests. */
  serve(served: Served): void {
    const { main, admin, metrics } = served.routes;
    this.#handles = {
      main: handleOf(this.#settings.admin === 'shared' ? [...main, ...admin] : main, served),
      admin: handleOf(admin, served),
      metrics: handleOf(metrics, served),
    };
    this.#serve();
  }

  /** Number of bytes of answers that clients have not read yet. */
  get heldBytes(): number {
    return this.#answers.bytes;
  }

  /** Resolves with the port (for port 0 the one that the system chose). Must be called once per listener. */
  async listen({ host, port, tls }: Listener, role: Role): Promise<number> {
    const { maxConnections, timeouts } = this.#settings;
    const listener = new PortListener(
      {
        ...{ host, port, tls, maxConnections },
        plainHttp: 'close',
        groupOf: (address) => addressGroup(plainAddress(address)),
        timeouts: { ...TIMEOUTS, ...timeouts },
      },
      this.#listeners[role],
      refuseConnection(maxConnections),
    );
    const bound = await listener.listen();
    this.#open.push(listener);
    return bound;
  }

  /** Closes the listeners. Running requests may end within a second; after that, their connections are closed. */
  async close(): Promise<void> {
    this.#refuse(new RequestError(500, 'Worker is shutting down'));
    await Promise.all(this.#open.splice(0).map(closeListener));
  }

  #requestListener(role: Role): RequestListener {
    const { allowedHosts, own, headerRules, crossOrigin: rules, extensions } = this.#settings;
    const app = new Koa();
    app.silent = true;
    app.use(({ method, path }, next) => eventLoopWatch.during(`${method} ${path.slice(0, MAX_NAMED_PATH)}`, next));
    if (headerRules.length > 0) app.use(responseHeaders(headerRules));
    app.use(consoleHeaders);
    app.use(async (context: Context, next) => {
      this.#bodies.watch(context.req, context.res, isInternal(context));
      await next();
    });
    app.use(errors(this.#starting));
    app.use(async (context: Context, next) => {
      await next();
      this.#answers.hold(context.res, context.body);
    });
    app.use(requestOrigin({ allowedHosts, own, allowedOrigins: rules.origins }));
    if (rules.origins.trim() !== '') app.use(crossOrigin(rules));
    // Prometheus reads metrics without credentials, as it does jmx_exporter's.
    if (role !== 'metrics') for (const extension of extensions) app.use(extension);
    app.use((context: Context, next) => this.#handle(role, context, next));
    const handle = app.callback();
    return (request, response) => void handle(request, response);
  }

  async #handle(role: Role, context: Context, next: Koa.Next): Promise<void> {
    const { stage } = this.#starting;
    if (this.#handles === undefined) {
      if (role === 'main' && HEALTH.test(context.path)) {
        answerStarting(context, stage);
        return;
      }
      await withinTimeLimit(stage, this.#served);
    }
    await this.#handles?.[role](context, next);
  }
}

/** Answers with the routes, or forwards to another worker. */
function handleOf(routes: readonly Route[], served: Served): Handle {
  const router = new Router({ sensitive: true });
  for (const { method, path, handle } of [...routes, openApiResource(routes)]) router.register(path, [method], handle);
  const answering = router.routes();
  const answered = forwarding(served, async (context, next) => {
    await answering(context as RouterContext, next);
  });
  const notFound = (): never => {
    throw new HttpError(404);
  };
  return async (context) => {
    if (negotiated(router, context)) return;
    served.check(context);
    await untilReady(served.herder, context);
    await answered(context, notFound);
  };
}

async function closeListener(listener: PortListener): Promise<void> {
  const timer = setTimeout(() => {
    listener.cut();
  }, CLOSE_GRACE_MS);
  await listener.close();
  clearTimeout(timer);
}

/** Answers requests on connections beyond the limit. */
function refuseConnection(limit: number): (request: IncomingMessage, response: ServerResponse) => void {
  const message = `The worker has ${String(limit)} connections open here (rest.max.connections); try again in some seconds`;
  const body = JSON.stringify({ error_code: 503, message });
  return (_request, response) => {
    response.writeHead(503, { 'Content-Type': 'application/json', 'Retry-After': '1' }).end(body);
  };
}

/** `host:port` as worker ids and advertised URLs show it. */
export function hostPort(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
}

function errors({ logger, secrets }: StartingWorker): Koa.Middleware {
  return async (context: Context, next) => {
    try {
      await next();
    } catch (thrown) {
      const { status, headers, body } = errorAnswer(thrown);
      // A refusal because of a limit is expected under load; it is not logged.
      const isRefusal = thrown instanceof RequestError && status === 503 && thrown.cause === undefined;
      if (status >= 500 && !isRefusal)
        logger.error({ err: toError(thrown) }, `${context.method} ${context.path} failed`);
      context.set(headers);
      answer(context, status, { ...body, message: secrets.hide(body.message) });
    }
  };
}

/** Paths that are answered before the herder has started, because the operator of a starting worker needs them. */
const ALWAYS = /^\/(health|admin\/loggers(\/[^/]+)?)\/?$/;
const HEALTH = /^\/health\/?$/;

/** Requests that arrive before the herder has started wait for it, at most for the time limit of a request. */
async function untilReady(herder: Served['herder'], { path }: Context): Promise<void> {
  if (!herder.ready && !ALWAYS.test(path)) await withinTimeLimit(herder.stage, herder.whenReady());
}

/** Paths that may answer with something other than JSON, so that `Accept` is not checked here. */
const OWN_FORM = /^\/(?:metrics\/?|ui(?:\/.*)?)$/;

/**
 * Answers `OPTIONS` with the methods of the path; returns whether it has answered.
 * @throws HttpError 405 with the methods of the path; 406: the client does not accept JSON
 */
function negotiated(router: Router, context: Context): boolean {
  const { path, pathAndMethod } = router.match(context.path, context.method);
  const methods = [...new Set(path.flatMap((layer) => layer.methods))];
  if (methods.length === 0) return false;
  const allow = [...methods, 'OPTIONS'].join(',');
  if (context.method === 'OPTIONS') {
    const asText = context.accepts('text/plain', 'application/json') === 'text/plain';
    context.status = 200;
    context.body = asText ? allow.replaceAll(',', ', ') : '';
    context.set({ Allow: allow, 'Content-Type': asText ? 'text/plain' : 'application/json' });
    return true;
  }
  if (pathAndMethod.length === 0) throw new HttpError(405, { Allow: allow });
  if (!OWN_FORM.test(context.path) && context.accepts('application/json') === false) throw new HttpError(406);
  return false;
}
