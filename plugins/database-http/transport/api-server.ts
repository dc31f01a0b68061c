import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createGzip, gzip, gzipSync } from 'node:zlib';
import Koa from 'koa';
import { asActivity, toError, type Logger } from '../../../src/index.ts';
import { DatabaseError } from '../../../src/index-database.ts';
import type { Access, Visit } from '../access/access.ts';
import { databaseFailure } from '../database-failure.ts';
import { readBody, readText } from './request-body.ts';
import { RequestClock } from './request-clock.ts';
import { type ApiAnswer, type ApiBody, ApiFailure, type ApiRequest, jsonAnswer, type Route } from '../route.ts';
import type { ServerSettings } from '../server-settings.ts';
import { TEXTS } from '../texts.ts';
import { badTimeZone, readTimeZone } from '../time-zone.ts';

/** Smaller answers are not worth packing. */
const MIN_GZIP_BYTES = 1400;
const MIN_THREAD_BYTES = 64 * 1024;
const packInThread = promisify(gzip);

export interface ApiServerDependencies {
  readonly routes: readonly Route[];
  readonly access: Access;
  readonly settings: ServerSettings;
  readonly defaultDatabase: string;
  readonly maxBodyBytes: number;
  /** Of a client that sends or takes nothing. */
  readonly clientTimeoutMs: number;
  /** Of a client whose answer is held for it. */
  readonly takeTimeoutMs: number;
  readonly statementTimeoutMs: number | undefined;
  readonly logger: Logger;
}

/** A request as it came in. */
interface Arrival {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly clock: RequestClock;
  readonly signal: AbortSignal;
  /** Ends the request. */
  readonly revoke: () => void;
}

/** Finds the route of a request, lets its user in, and sends what the route answers. */
export class ApiServer {
  readonly #dependencies: ApiServerDependencies;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly #running = new Set<AbortController>();

  constructor(dependencies: ApiServerDependencies) {
    this.#dependencies = dependencies;
    this.#routes = new Map(dependencies.routes.map((route) => [route.path, route]));
    const app = new Koa();
    app.silent = true;
    app.use(async (context) => {
      // Answers may be streams that end in trailers, and hold a database connection until they are sent.
      context.respond = false;
      const { req, res } = context;
      const url = new URL(req.url?.startsWith('/') === true ? `http://host${req.url}` : 'http://host/');
      const route = this.#routes.get(url.pathname);
      const path = route?.path ?? 'to an unknown path';
      await asActivity(`request ${req.method ?? ''} ${path}`, () => this.#serve(req, res, url, route));
    });
    this.#handle = app.callback();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    void this.#handle(request, response);
  }

  /** Cancels what still runs. */
  abort(): void {
    for (const controller of this.#running) controller.abort();
  }

  async #serve(request: IncomingMessage, response: ServerResponse, url: URL, route: Route | undefined): Promise<void> {
    const clock = new RequestClock();
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
      answer = await this.#answer({ request, url, clock, signal, revoke }, route, (entered) => {
        visit = entered;
      });
      response.setHeader('Server-Timing', clock.header());
      if (answer.sent !== undefined && Buffer.isBuffer(answer.body))
        take = setTimeout(() => response.destroy(), this.#dependencies.takeTimeoutMs);
      if (!response.destroyed) await send(answer, request, response, this.#dependencies.clientTimeoutMs);
    } catch (error) {
      // The head is out: a body that breaks off is all that can tell of the failure.
      response.destroy();
      if (!controller.signal.aborted)
        this.#dependencies.logger.warn({ err: error }, `${url.pathname}: the answer broke off`);
    } finally {
      clearTimeout(take);
      answer?.sent?.();
      if (visit !== undefined) this.#dependencies.access.leave(visit);
      this.#running.delete(controller);
      const tookMs = Math.round(clock.totalMs);
      const { method = '' } = request;
      this.#dependencies.logger.debug(
        { user: visit?.user, status: response.statusCode, tookMs },
        `${method} ${url.pathname}`,
      );
    }
  }

  async #answer(arrival: Arrival, route: Route | undefined, onEntered: (visit: Visit) => void): Promise<ApiAnswer> {
    const { request, url, clock, signal, revoke } = arrival;
    if (route === undefined) return defaultFailure(new ApiFailure(404, TEXTS.unknownUrl));
    try {
      if (!route.methods.includes(request.method ?? '')) throw new ApiFailure(404, wrongMethod(route));
      if (route.access === 'anyone') return await route.handle(this.#guestRequest(arrival));
      const visit = await clock.database(() =>
        this.#dependencies.access.enter(request, url.searchParams, route, revoke),
      );
      onEntered(visit);
      try {
        return await route.handle(this.#userRequest(arrival, route, visit));
      } finally {
        this.#dependencies.access.refresh(visit);
      }
    } catch (error) {
      const failure = this.#failureOf(error, url.pathname, signal);
      const answer = route.failure?.(failure) ?? defaultFailure(failure);
      return withRetryAfter(answer, failure);
    }
  }

  #failureOf(error: unknown, path: string, signal: AbortSignal): ApiFailure {
    // The user may not log in any more; what was cancelled for that says less.
    if (signal.reason instanceof ApiFailure) return signal.reason;
    if (error instanceof ApiFailure) return error;
    if (error instanceof DatabaseError) return databaseFailure(error);
    if (!signal.aborted) this.#dependencies.logger.error({ err: toError(error) }, `${path} failed`);
    return new ApiFailure(500, TEXTS.internal, { cause: error });
  }

  #userRequest(arrival: Arrival, route: Route, visit: Visit): ApiRequest {
    const { url } = arrival;
    const database = databaseOf(url, route) ?? this.#dependencies.defaultDatabase;
    return {
      ...this.#bareRequest(arrival),
      login: visit,
      database,
      get executor() {
        return visit.executorOn(database);
      },
      executorOn: (name) => visit.executorOn(name),
      timeZone: route.takesTimeZone === false ? this.#dependencies.settings.timeZone : this.#timeZone(url),
    };
  }

  #guestRequest(arrival: Arrival): ApiRequest {
    const noExecutor = (): never => {
      throw new Error('a request without credentials has no database');
    };
    return {
      ...this.#bareRequest(arrival),
      login: { user: 'guest', isAdministrator: async () => false },
      database: this.#dependencies.defaultDatabase,
      get executor() {
        return noExecutor();
      },
      executorOn: noExecutor,
      timeZone: 'UTC',
    };
  }

  #bareRequest({ request, url, clock, signal }: Arrival) {
    const limits = { maxBytes: this.#dependencies.maxBodyBytes, idleMs: this.#dependencies.clientTimeoutMs };
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
      statementTimeoutMs: this.#dependencies.statementTimeoutMs,
      logger: this.#dependencies.logger,
    };
  }

  #timeZone(url: URL): string {
    const parameter = url.searchParams.get('tz');
    if (parameter === null || parameter.trim() === '') return this.#dependencies.settings.timeZone;
    const zone = readTimeZone(parameter);
    if (zone === undefined) throw new ApiFailure(400, badTimeZone(parameter));
    return zone;
  }
}

/** Answers whoever came when the connections were used up. */
export function refuseConnection(
  limit: number,
  clientTimeoutMs: number,
): (request: IncomingMessage, response: ServerResponse) => void {
  const failure = new ApiFailure(503, TEXTS.tooManyConnections(limit), { retryAfterSeconds: 1 });
  return (request, response) => {
    send(withRetryAfter(defaultFailure(failure), failure), request, response, clientTimeoutMs).catch(() =>
      response.destroy(),
    );
  };
}

function defaultFailure(failure: ApiFailure): ApiAnswer {
  return jsonAnswer(failure.status, { code: -1, desc: failure.message });
}

function withRetryAfter(answer: ApiAnswer, { retryAfterSeconds }: ApiFailure): ApiAnswer {
  if (retryAfterSeconds === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'Retry-After': String(retryAfterSeconds) } };
}

function databaseOf(url: URL, route: Route): string | undefined {
  for (const parameter of route.databaseParameters ?? ['db']) {
    const name = url.searchParams.get(parameter);
    if (name === null || name === '') continue;
    if (name.includes('\0')) throw new ApiFailure(400, `${parameter} has a NUL character`);
    // Some clients write the quotes that the service would add.
    return /^".+"$/.test(name) ? name.slice(1, -1).replaceAll('""', '"') : name;
  }
  return undefined;
}

function wrongMethod({ path, methods }: Route): string {
  if (path === '/restapi/session') return TEXTS.onlyGetAndDelete;
  return methods.includes('POST') ? TEXTS.onlyPost : TEXTS.onlyGet;
}

async function send(
  answer: ApiAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  stallMs: number,
): Promise<void> {
  const { body } = answer;
  response.statusCode = answer.status;
  if (body !== undefined) response.setHeader('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (body === undefined) {
    response.end();
    return;
  }
  const packs = acceptsGzip(request);
  if (packs) response.setHeader('Vary', 'Accept-Encoding');
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    await endWith(response, packs && bytes.length >= MIN_GZIP_BYTES ? await pack(bytes, response) : bytes, stallMs);
    return;
  }
  cutWhenStalled(response, stallMs);
  await stream(body, packs, answer.trailers, response);
}

async function endWith(response: ServerResponse, bytes: Buffer, stallMs: number): Promise<void> {
  response.setHeader('Content-Length', bytes.length);
  cutWhenStalled(response, stallMs);
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.end(bytes, resolve);
  });
}

/** In a thread where it takes long enough for others to notice. */
async function pack(bytes: Buffer, response: ServerResponse): Promise<Buffer> {
  response.setHeader('Content-Encoding', 'gzip');
  const level = { level: constants.Z_BEST_SPEED };
  return bytes.length < MIN_THREAD_BYTES ? gzipSync(bytes, level) : packInThread(bytes, level);
}

async function stream(
  body: Exclude<ApiBody, string | Buffer>,
  packs: boolean,
  trailers: ApiAnswer['trailers'],
  response: ServerResponse,
): Promise<void> {
  const source = Readable.from(body, { objectMode: false });
  if (packs) {
    response.setHeader('Content-Encoding', 'gzip');
    const packer = createGzip({ level: constants.Z_BEST_SPEED });
    await Promise.all([pipeline(source, packer), pipeline(packer, response, { end: false })]);
  } else {
    await pipeline(source, response, { end: false });
  }
  if (trailers !== undefined) response.addTrailers(trailers());
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.end(resolve);
  });
}

/** Silence on the socket is the client's when something waits to be sent, and the database's when nothing does. */
function cutWhenStalled(response: ServerResponse, stallMs: number): void {
  const { socket } = response;
  const onSilence = (): void => {
    if (response.writableLength > 0) response.destroy();
    else socket?.setTimeout(stallMs);
  };
  response.setTimeout(stallMs, onSilence);
  response.once('finish', () => socket?.setTimeout(0));
}

function acceptsGzip(request: IncomingMessage): boolean {
  const header = request.headers['accept-encoding'];
  return typeof header === 'string' && /(?:^|,)\s*(?:x-)?gzip\s*(?:,|;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|$)/i.test(header);
}
