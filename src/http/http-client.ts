import { request as requestPlain, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

/** Limit of an answer's body, unless the request has its own. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface HttpRequest {
  /** Default: GET. */
  readonly method?: string | undefined;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Buffer | undefined;
  /** Limit of the whole exchange, up to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Limit of the time in which the server sends nothing. */
  readonly idleTimeoutMs?: number | undefined;
  /** An answer with a longer body fails. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Settings of https. */
  readonly tls?: ConnectionOptions | undefined;
  /** An open connection to the server, with TLS for https; it is used for this request only. */
  readonly connection?: Socket | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * The client for all outgoing requests. Resolves with an answer of any status; rejects when there is no complete answer, with the
 * reason of the signal if that has aborted.
 *
 * Redirects are not followed, so that credentials are sent to the address of the request and to no other. Each request has a
 * connection of its own, because the server may close one that is kept while the next request is on its way.
 */
export async function httpRequest(request: HttpRequest): Promise<HttpAnswer> {
  const response = await httpResponse(request);
  const body = await readBody(response, request.maxBytes);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/**
 * Like `httpRequest`, but resolves when the answer begins. The caller reads its body or destroys it; the limits of time
 * and the signal still apply.
 */
export function httpResponse(request: Omit<HttpRequest, 'maxBytes'>): Promise<IncomingMessage> {
  const { method = 'GET', url, headers = {}, body, timeoutMs, idleTimeoutMs, signal, tls, connection } = request;
  // With an agent, even with `false`, Node opens a connection itself.
  const common = {
    method,
    headers,
    ...(connection ? { createConnection: () => connection } : { agent: false as const }),
  };
  // A signal of this request, as a signal that many requests share warns of many listeners.
  const stop = signal === undefined ? undefined : AbortSignal.any([signal]);
  return new Promise((resolve, reject) => {
    stop?.throwIfAborted();
    const sent = url.protocol === 'https:' ? requestSecure(url, { ...tls, ...common }) : requestPlain(url, common);
    let response: IncomingMessage | undefined;
    const fail = (error: Error): void => {
      reject(error);
      (response ?? sent).destroy(error);
    };
    const onAbort = (): void => fail(stop?.reason as Error);
    const onTimeout = (limitMs: number): void => fail(new Error(`no answer within ${String(limitMs)} ms`));
    const timer = setTimeout(onTimeout, timeoutMs, timeoutMs);
    if (idleTimeoutMs !== undefined) sent.setTimeout(idleTimeoutMs, () => onTimeout(idleTimeoutMs));
    stop?.addEventListener('abort', onAbort);
    sent.on('response', (message) => {
      response = message;
      resolve(message);
    });
    // Where a name has several addresses, one error holds those of all.
    sent.on('error', (error) => reject(error instanceof AggregateError ? (error.errors[0] as Error) : error));
    sent.on('close', () => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', onAbort);
    });
    sent.end(body);
  });
}

/** The body of an answer. Rejects, and closes the connection, when it has more than `maxBytes`. */
export async function readBody(response: IncomingMessage, maxBytes = MAX_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`the answer has more than ${String(maxBytes)} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new Error('the answer broke off', { cause: error });
  }
  return Buffer.concat(chunks);
}
