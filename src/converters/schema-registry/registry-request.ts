import http from 'node:http';
import https from 'node:https';
import { SluiceError } from '../../errors.ts';
import type { RegistrySettings } from './registry-settings.ts';

export interface RegistryRequest {
  readonly method: 'GET' | 'POST';
  /** Below the registry's URL, with a leading `/`. */
  readonly path: string;
  readonly body?: string;
}

/** The registry's own words for why it refuses a request. */
export class RegistryAnswerError extends SluiceError {
  readonly status: number;
  /** The registry's five digits, of which the first three are a status; the status where it gave none. */
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
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * One request to one URL of the registry; gives the parsed answer. Rejects with a RegistryAnswerError for a status other than
 * 2xx, with Node's error where there is no answer. No connection is kept: a schema is asked for once.
 */
export async function requestJson(
  base: URL,
  request: RegistryRequest,
  settings: RegistrySettings,
  signal: AbortSignal,
): Promise<unknown> {
  const { status, text } = await send(base, request, settings, signal);
  const json = parseJson(text);
  if (status >= 200 && status < 300) {
    if (json === undefined) throw new Error(`the answer is not JSON: ${text.slice(0, 100)}`);
    return json;
  }
  const { message, error_code: code } = (json ?? {}) as { message?: unknown; error_code?: unknown };
  throw new RegistryAnswerError(
    status,
    typeof code === 'number' ? code : status,
    typeof message === 'string' ? message : `HTTP ${String(status)} ${http.STATUS_CODES[status] ?? ''}`.trim(),
  );
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function send(base: URL, request: RegistryRequest, settings: RegistrySettings, signal: AbortSignal): Promise<Answer> {
  const { connectTimeoutMs, readTimeoutMs } = settings;
  const url = new URL(base.pathname.replace(/\/$/, '') + request.path, base);
  const body = request.body === undefined ? undefined : Buffer.from(request.body, 'utf8');
  const options = {
    method: request.method,
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs + readTimeoutMs)]),
    headers: {
      accept: `${MEDIA_TYPE}, application/json`,
      ...(body && { 'content-type': MEDIA_TYPE, 'content-length': body.length }),
      ...settings.headers,
    },
  } as const;
  return new Promise((resolve, reject) => {
    const answer = (response: http.IncomingMessage) => {
      readAll(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    };
    const sent =
      url.protocol === 'https:'
        ? https.request(url, { ...options, ...settings.tls }, answer)
        : http.request(url, options, answer);
    sent.on('error', reject);
    sent.setTimeout(readTimeoutMs, () => sent.destroy(new Error(`no answer within ${String(readTimeoutMs)} ms`)));
    sent.end(body);
  });
}

async function readAll(response: http.IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${String(MAX_ANSWER_BYTES)} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
