import { request as requestPlain, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

/** Default size limit of an answer's body, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface HttpRequest {
  /** Default: GET. */
  readonly method?: string | undefined;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Buffer | undefined;
  /** Time limit of the whole exchange, up to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Maximum time for which the server may send nothing. */
  readonly idleTimeoutMs?: number | undefined;
  /** Size limit of the answer's body; the request fails if the body is larger. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** TLS settings, used only for https. */
  readonly tls?: ConnectionOptions | undefined;
  /** An open connection to the server, with TLS for https. It is used only for this request. */
  readonly connection?: Socket | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * The client for all outgoing requests. Resolves with an answer of any status. Rejects if there is no complete answer.
 * If the signal has aborted, the error is the reason of the signal.
 *
 * Redirects are not followed, so that credentials are sent only to the address of the request. Each request has its own
 * connection, because a server may close a kept-alive connection while the next request is being sent.
 */
export async function httpRequest(request: HttpRequest): Promise<HttpAnswer> {
  const response = await httpResponse(request);
  const body = await readBody(response, request.maxBytes);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/**
 * Like `httpRequest`, but resolves when the answer begins. The caller must read or destroy its body. Until then, the
 * time limits and the signal still apply.
 */
export function httpResponse(request: Omit<HttpRequest, 'maxBytes'>): Promise<IncomingMessage> {
  const { method = 'GET', url, headers = {}, body, timeoutMs, idleTimeoutMs, signal, tls, connection } = request;
  // `agent` must not be set together with `createConnection`. Even with `agent: false`, Node.js ignores `createConnection`
  // and opens another connection.
  const common = {
    method,
    headers,
    ...(connection ? { createConnection: () => connection } : { agent: false as const }),
  };
  // Each request has its own signal, because Node.js warns if many requests add listeners to one signal.
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
    // If a host name has several addresses, Node.js reports the errors of all of them as one AggregateError.
    sent.on('error', (error) => reject(error instanceof AggregateError ? (error.errors[0] as Error) : error));
    sent.on('close', () => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', onAbort);
    });
    sent.end(body);
  });
}

/** Reads the body of an answer. If it has more than `maxBytes`, the call rejects and the connection is closed. */
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
