import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { asActivity, BoundedMap, toError, type Logger } from '../../../src/index.ts';
import { DatabaseError } from '../../database/index.ts';
import type { TrustedProxies } from '../access/client-address.ts';
import type { Access, Visit } from '../access/access.ts';
import { databaseFailure } from '../database-failure.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { RequestLog } from './request-log.ts';
import { readBody, readText } from './request-body.ts';
import { RequestClock } from './request-clock.ts';
import { sendAnswer } from './send-answer.ts';
import { type ApiAnswer, ApiFailure, type ApiRequest, type MethodRoute, PLAIN_FAILURE, type Route } from '../route.ts';
import { type KnownPath, RouteTable } from './route-table.ts';
import type { ServerSettings } from '../server-settings.ts';
import { TEXTS } from '../texts.ts';
import { badTimeZone, readTimeZone, requireTimeZone } from '../time-zone.ts';

export interface ApiServerDependencies {
  readonly routes: readonly Route[];
  readonly access: Access;
  readonly serverSettings: ServerSettings;
  readonly crossOrigin: CrossOrigin;
  readonly requestLog: RequestLog;
  readonly proxies: Pick<TrustedProxies, 'clientOf'>;
  /** Whether the database server accepts connections. */
  readonly databaseAnswers: () => Promise<boolean>;
  readonly logger: Logger;
}

export interface ApiServerSettings {
  readonly defaultDatabase: string;
  readonly maxBodyBytes: number;
  /** Time limit in milliseconds for a client that neither sends nor reads. */
  readonly clientTimeoutMs: number;
  /** Time limit in milliseconds in which a client must read an answer that is held in memory. */
  readonly takeTimeoutMs: number;
  readonly statementTimeoutMs: number | undefined;
}

const MAX_KNOWN_ZONES = 1_000;

/** A received request. */
interface Arrival {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly requestId: string;
  readonly address: string;
  readonly clock: RequestClock;
  readonly signal: AbortSignal;
  /** Ends the request because its user may no longer log in. */
  readonly revoke: () => void;
}

/** Finds the route of a request, authenticates its user, and sends the answer of the route. */
export class ApiServer {
  readonly #dependencies: ApiServerDependencies;
  readonly #settings: ApiServerSettings;
  readonly #routes: RouteTable;
  readonly #handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly #running = new Set<AbortController>();
  /** Zones that the database has accepted. */
  readonly #knownZones = new BoundedMap<string, true>(MAX_KNOWN_ZONES);

  constructor(dependencies: ApiServerDependencies, settings: ApiServerSettings) {
    this.#dependencies = dependencies;
    this.#settings = settings;
    this.#routes = new RouteTable(dependencies.routes);
    const app = new Koa();
    app.silent = true;
    app.use(async (context) => {
      // Koa must not send the answer: it may be a stream with trailers that uses a database connection until it is sent.
      context.respond = false;
      const { req, res } = context;
      const url = new URL(req.url?.startsWith('/') === true ? `http://host${req.url}` : 'http://host/');
      const known = this.#routes.find(url.pathname);
      const path = known?.path ?? 'to an unknown path';
      await asActivity(`request ${req.method ?? ''} ${path}`, () => this.#serve(req, res, url, known));
    });
    this.#handle = app.callback();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    void this.#handle(request, response);
  }

  /** Number of running requests. */
  get running(): number {
    return this.#running.size;
  }

  /** Cancels the running requests. */
  abort(): void {
    for (const controller of this.#running) controller.abort();
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    known: KnownPath | undefined,
  ): Promise<void> {
    const requestId = requestIdOf(request.headers);
    response.setHeader('X-Request-Id', requestId);
    if (this.#dependencies.crossOrigin.apply(request, response, known && [...known.routes.keys()])) {
      response.writeHead(204).end();
      return;
    }
    const clock = new RequestClock();
    const address = this.#dependencies.proxies.clientOf(request);
    let isCut = false;
    const controller = new AbortController();
    const onClose = (): void => {
      if (!response.writableFinished) controller.abort();
    };
    response.once('close', onClose);
    this.#running.add(controller);
    let visit: Visit | undefined;
    let answer: ApiAnswer | undefined;
    let take: NodeJS.Timeout | undefined;
    try {
      const { signal } = controller;
      const revoke = (): void => controller.abort(new ApiFailure(401, TEXTS.unknownToken));
      answer = await this.#answer({ request, url, requestId, address, clock, signal, revoke }, known, (entered) => {
        visit = entered;
      });
      response.setHeader('Server-Timing', clock.header());
      if (answer.sent !== undefined && Buffer.isBuffer(answer.body))
        take = setTimeout(() => response.destroy(), this.#settings.takeTimeoutMs);
      if (!response.destroyed) await sendAnswer(answer, request, response, this.#settings.clientTimeoutMs);
    } catch (error) {
      // The head has been sent, so the failure can only be shown by a truncated body.
      response.destroy();
      isCut = true;
      if (!controller.signal.aborted)
        this.#dependencies.logger.warn({ err: error }, `${url.pathname}: the answer broke off`);
    } finally {
      clearTimeout(take);
      answer?.sent?.();
      if (visit !== undefined) this.#dependencies.access.leave(visit);
      this.#running.delete(controller);
      const { user } = visit ?? {};
      const tally = answer?.tally?.();
      const end = { request, response, route: known?.path, requestId, user, address, tally, tookMs: clock.totalMs };
      this.#dependencies.requestLog.ended({
        ...end,
        isCut: isCut || (response.destroyed && !response.writableFinished),
      });
    }
  }

  async #answer(arrival: Arrival, known: KnownPath | undefined, onEntered: (visit: Visit) => void): Promise<ApiAnswer> {
    const { request, url, clock, signal, revoke } = arrival;
    try {
      const route = known?.routes.get(request.method ?? '');
      if (route === undefined) throw new ApiFailure(404, noRoute(known));
      if (route.access === 'anyone') return await route.handle(this.#guestRequest(arrival));
      const visit = await clock.database(() =>
        this.#dependencies.access.enter(request, url.searchParams, route, revoke),
      );
      onEntered(visit);
      try {
        const userRequest = this.#userRequest(arrival, route, visit);
        if (route.takesTimeZone !== false) await this.#requireTimeZone(userRequest);
        return await route.handle(userRequest);
      } finally {
        this.#dependencies.access.refresh(visit);
      }
    } catch (error) {
      const failure = this.#failureOf(error, url.pathname, signal);
      return withRetryAfter((known?.failure ?? PLAIN_FAILURE).answer(failure), failure);
    }
  }

  #failureOf(error: unknown, path: string, signal: AbortSignal): ApiFailure {
    // The request was revoked; that reason is more useful than the error of the cancelled statement.
    if (signal.reason instanceof ApiFailure) return signal.reason;
    if (error instanceof ApiFailure) return error;
    if (error instanceof DatabaseError) return databaseFailure(error);
    if (!signal.aborted) this.#dependencies.logger.error({ err: toError(error) }, `${path} failed`);
    return new ApiFailure(500, TEXTS.internal, { cause: error });
  }

  #userRequest(arrival: Arrival, route: MethodRoute, visit: Visit): ApiRequest {
    const { url } = arrival;
    const database = databaseOf(url, route) ?? this.#settings.defaultDatabase;
    return {
      ...this.#bareRequest(arrival),
      login: visit,
      database,
      get executor() {
        return visit.executorOn(database);
      },
      executorOn: (name) => visit.executorOn(name),
      timeZone: route.takesTimeZone === false ? this.#dependencies.serverSettings.timeZone : this.#timeZone(url),
    };
  }

  #guestRequest(arrival: Arrival): ApiRequest {
    const noExecutor = (): never => {
      throw new Error('a request without credentials has no database');
    };
    return {
      ...this.#bareRequest(arrival),
      login: { user: 'guest', isAdministrator: async () => false },
      database: this.#settings.defaultDatabase,
      get executor() {
        return noExecutor();
      },
      executorOn: noExecutor,
      timeZone: 'UTC',
    };
  }

  #bareRequest({ request, url, requestId, address, clock, signal }: Arrival) {
    const limits = { maxBytes: this.#settings.maxBodyBytes, idleMs: this.#settings.clientTimeoutMs };
    const body = () => readBody(request, limits);
    return {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body,
      text: async () => readText(body()),
      signal,
      clock,
      statementTimeoutMs: this.#settings.statementTimeoutMs,
      requestId,
      address,
      databaseAnswers: this.#dependencies.databaseAnswers,
      logger: this.#dependencies.logger,
    };
  }

  /** Rejects a request with an unknown time zone, even if the route's statements do not depend on the zone. */
  async #requireTimeZone({ query, timeZone, executor, clock }: ApiRequest): Promise<void> {
    const asked = query.get('tz') ?? '';
    if (asked.trim() === '' || this.#knownZones.has(timeZone)) return;
    await clock.database(() => requireTimeZone(executor, timeZone, asked));
    this.#knownZones.set(timeZone, true);
  }

  #timeZone(url: URL): string {
    const parameter = url.searchParams.get('tz');
    if (parameter === null || parameter.trim() === '') return this.#dependencies.serverSettings.timeZone;
    const zone = readTimeZone(parameter);
    if (zone === undefined) throw new ApiFailure(400, badTimeZone(parameter));
    return zone;
  }
}

/** Returns a handler that answers requests on a connection beyond the limit with 503. */
export function refuseConnection(
  limit: number,
  clientTimeoutMs: number,
): (request: IncomingMessage, response: ServerResponse) => void {
  const failure = new ApiFailure(503, TEXTS.tooManyConnections(limit), { retryAfterSeconds: 1 });
  return (request, response) => {
    sendAnswer(withRetryAfter(PLAIN_FAILURE.answer(failure), failure), request, response, clientTimeoutMs).catch(() =>
      response.destroy(),
    );
  };
}

function withRetryAfter(answer: ApiAnswer, { retryAfterSeconds }: ApiFailure): ApiAnswer {
  if (retryAfterSeconds === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'Retry-After': String(retryAfterSeconds) } };
}

function databaseOf(url: URL, route: MethodRoute): string | undefined {
  for (const parameter of route.databaseParameters ?? ['db']) {
    const name = url.searchParams.get(parameter);
    if (name === null || name === '') continue;
    if (name.includes('\0')) throw new ApiFailure(400, `${parameter} has a NUL character`);
    // Some clients send the name as a quoted identifier.
    return /^".+"$/.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name;
  }
  return undefined;
}

/** The error of the original database (docs/database-api.md) for a path that has no route with the request's method. */
function noRoute(known: KnownPath | undefined): string {
  const { routes } = known ?? {};
  if (routes === undefined || routes.size === 0) return TEXTS.unknownUrl;
  if (routes.has('DELETE')) return TEXTS.onlyGetAndDelete;
  return routes.has('POST') ? TEXTS.onlyPost : TEXTS.onlyGet;
}

const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/**
 * The id of a request in answers and logs: the header `X-Request-Id` if it has up to 128 letters, digits and signs,
 * otherwise a new one.
 */
function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
