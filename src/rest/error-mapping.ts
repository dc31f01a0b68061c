import { ConfigError, RequestError, toError } from '../errors.ts';

/** A failure of HTTP itself, answered with Connect's text for it. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: 404 | 405 | 406 | 413 | 415, headers: Readonly<Record<string, string>> = {}) {
    super(`HTTP ${String(status)} ${REASONS[status]}`);
    this.status = status;
    this.headers = headers;
  }
}

const REASONS = {
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
} as const;

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error_code: number; readonly message: string };
}

/**
 * Like Connect's ConnectExceptionMapper, answers an error with its message. A RequestError and an HttpError have their
 * own status, a ConfigError is answered with 400, and any other error with 500.
 */
export function errorAnswer(thrown: unknown): ErrorAnswer {
  const error = toError(thrown);
  let status = 500;
  if (error instanceof RequestError || error instanceof HttpError) status = error.status;
  else if (error instanceof ConfigError) status = 400;
  const headers = error instanceof HttpError ? error.headers : {};
  return { status, headers, body: { error_code: status, message: error.message } };
}
