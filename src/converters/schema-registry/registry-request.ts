import { STATUS_CODES } from 'node:http';
import { SluiceError } from '../../errors.ts';
import { httpRequest, type HttpAnswer } from '../../http/http-client.ts';
import type { RegistrySettings } from './registry-settings.ts';

export interface RegistryRequest {
  readonly method: 'GET' | 'POST';
  /** Path relative to the registry's URL, with a leading `/`. */
  readonly path: string;
  readonly body?: string;
}

/** The registry rejected a request. The message is that of the registry, followed by the error code. */
export class RegistryAnswerError extends SluiceError {
  readonly status: number;
  /** Error code of the registry, whose five digits begin with an HTTP status; the HTTP status if the response has no code. */
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(`${message}; error code: ${String(code)}`, {
      scope: 'record',
      javaName: 'io.confluent.kafka.schemaregistry.client.rest.exceptions.RestClientException',
    });
    this.status = status;
    this.code = code;
  }
}

const MEDIA_TYPE = 'application/vnd.schemaregistry.v1+json';

/**
 * Sends one request to one URL of the registry and resolves with the parsed response. Rejects with a
 * RegistryAnswerError for a status other than 2xx, with the error of the HTTP client if there is no response, and with
 * another error if a response with status 2xx is not JSON.
 */
export async function requestJson(
  base: URL,
  request: RegistryRequest,
  settings: RegistrySettings,
  signal: AbortSignal,
): Promise<unknown> {
  const { status, body } = await send(base, request, settings, signal);
  const text = body.toString();
  const json = parseJson(text);
  if (status >= 200 && status < 300) {
    if (json === undefined) throw new Error(`the response is not JSON: ${text.slice(0, 100)}`);
    return json;
  }
  const { message, error_code: code } = (json ?? {}) as { message?: unknown; error_code?: unknown };
  throw new RegistryAnswerError(
    status,
    typeof code === 'number' ? code : status,
    typeof message === 'string' ? message : `HTTP ${String(status)} ${STATUS_CODES[status] ?? ''}`.trim(),
  );
}

function send(
  base: URL,
  { method, path, body }: RegistryRequest,
  { headers, tls, connectTimeoutMs, readTimeoutMs }: RegistrySettings,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return httpRequest({
    method,
    url: new URL(base.pathname.replace(/\/$/, '') + path, base),
    headers: {
      accept: `${MEDIA_TYPE}, application/json`,
      ...(body === undefined ? {} : { 'content-type': MEDIA_TYPE }),
      ...headers,
    },
    body,
    timeoutMs: connectTimeoutMs + readTimeoutMs,
    idleTimeoutMs: readTimeoutMs,
    signal,
    tls,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
