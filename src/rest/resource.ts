import { within } from '../async/within.ts';
import type { ParameterizedContext } from 'koa';
import type Koa from 'koa';
import type { JsonSchema, QueryParameter } from '../json/open-api.ts';
import { RequestError } from '../errors.ts';
import type { StageTracker } from '../observe/stage.ts';

/** The part of a route's declaration that the OpenAPI description shows. */
export interface Operation {
  readonly summary: string;
  readonly tag: 'worker' | 'connectors' | 'tasks' | 'offsets' | 'plugins' | 'loggers' | 'between workers';
  /** Query parameters. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  readonly body?: JsonSchema;
  /**
   * The answers by status. `null`: an answer without a body; a text: the content type of an answer that is not JSON.
   */
  readonly answers: Readonly<Record<number, JsonSchema | string | null>>;
}

/** A route that only the console uses; it changes with the console, and has no description. */
export interface OwnRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, with parameters as `:name`. */
  readonly path: string;
  /** Like those of an `Operation`. */
  readonly answers?: Operation['answers'];
  readonly handle: (context: Context, next: Koa.Next) => unknown;
}

/** A route of the management API. */
export interface DescribedRoute extends Omit<OwnRoute, 'answers'>, Operation {}

export type Route = DescribedRoute | OwnRoute;

export type Context = ParameterizedContext;

/** Answers with JSON, without a charset in the header, as Connect does. */
export function answer(context: Context, status: number, body: unknown): void {
  answerText(context, status, JSON.stringify(body));
}

/** Like `answer`, for JSON text. */
export function answerText(context: Context, status: number, json: string): void {
  context.status = status;
  context.set('Content-Type', 'application/json');
  context.body = json;
}

export function answerEmpty(context: Context, status: 202 | 204): void {
  context.status = status;
  context.body = status === 204 ? null : '';
  if (status === 202) context.remove('Content-Type');
}

export function pathName(context: Context, parameter: string): string {
  const params = context['params'] as Record<string, string | undefined>;
  return params[parameter] ?? '';
}

/** The first value of a query parameter. */
export function queryText(context: Context, name: string): string | undefined {
  const value = context.query[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Java's Boolean.parseBoolean: everything but `true` is false. */
export function flag(context: Context, name: string, otherwise = false): boolean {
  const text = queryText(context, name);
  return text === undefined ? otherwise : text.toLowerCase() === 'true';
}

/** Connect's time limit of a request. */
export const REQUEST_TIMEOUT_MS = 90_000;

/**
 * Applies Connect's time limit to a request.
 * @throws RequestError 500 after the limit; its message has the current stage of the worker, or of the request
 */
export async function withinTimeLimit<T>(
  stage: StageTracker,
  work: Promise<T>,
  limitMs = REQUEST_TIMEOUT_MS,
): Promise<T> {
  if (await within(work, limitMs)) return work;
  const doing = stage.describe();
  throw new RequestError(500, doing === '' ? 'Request timed out' : `Request timed out. ${doing}`);
}
