import type { ParameterizedContext } from 'koa';
import type Router from '@koa/router';
import type { Herder } from '../herder/herder.ts';
import type { ConnectorValidation } from '../herder/validation.ts';
import { RequestError } from '../errors.ts';

/** What every resource is given. */
export interface ResourceParts {
  readonly herder: Herder;
  readonly validation: ConnectorValidation;
  readonly kafkaClusterId: () => string;
}

export type Context = ParameterizedContext;
export type Resource = (router: Router, parts: ResourceParts) => void;

/** Answers with JSON, without a charset in the header, as Connect does. */
export function answer(context: Context, status: number, body: unknown): void {
  context.status = status;
  context.set('Content-Type', 'application/json');
  context.body = JSON.stringify(body);
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

/** Java's Boolean.parseBoolean: everything but `true` is false. */
export function flag(context: Context, name: string, otherwise = false): boolean {
  const value = context.query[name];
  const text = Array.isArray(value) ? value[0] : value;
  return text === undefined ? otherwise : text.toLowerCase() === 'true';
}

const REQUEST_TIMEOUT_MS = 90_000;

/** Connect's limit for a request; what the worker is busy with is in the text. */
export async function withinTimeLimit<T>(herder: Herder, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new RequestError(500, `Request timed out. ${herder.stage.describe()}`));
    }, REQUEST_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
