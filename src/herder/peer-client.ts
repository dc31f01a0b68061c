import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { RetriableError, toError } from '../errors.ts';

export interface PeerRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Without the whole answer for so long it failed. */
  readonly timeoutMs: number;
  /** An answer with a longer body has failed. */
  readonly maxBytes?: number | undefined;
}

export interface PeerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The other worker was not reached: it has not seen the request. */
export class PeerUnreachableError extends RetriableError {}

/** Requests to the REST APIs of other workers. */
export class PeerClient {
  readonly #tls: ConnectionOptions | undefined;

  /** `tls`: for workers that listen with https. */
  constructor(tls: ConnectionOptions | undefined) {
    this.#tls = tls;
  }

  /** Resolves with an answer of any status. Rejects with PeerUnreachableError, or when no answer came. */
  async request({ method, url, headers, body, timeoutMs, maxBytes = Infinity }: PeerRequest): Promise<PeerAnswer> {
    const target = new URL(url);
    // A connection of its own each time: one that was kept may be closed by the other side while it is being used.
    const common = { method, agent: false, headers: { ...headers, Connection: 'close' } };
    return new Promise((resolve, reject) => {
      const answered = (response: IncomingMessage): void => {
        collect(response, maxBytes).then(resolve, reject);
      };
      const request =
        target.protocol === 'https:'
          ? httpsRequest(target, { ...common, ...this.#tls }, answered)
          : httpRequest(target, common, answered);
      const late = new Error(`no answer within ${String(timeoutMs)} ms`);
      const timer = setTimeout(() => {
        reject(late);
        request.destroy(late);
      }, timeoutMs);
      request.on('close', () => {
        clearTimeout(timer);
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isUnreached = error.syscall === 'connect' || error.syscall === 'getaddrinfo';
        reject(isUnreached ? new PeerUnreachableError(error.message, { cause: error }) : error);
      });
      request.end(body);
    });
  }
}

async function collect(response: IncomingMessage, maxBytes: number): Promise<PeerAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new Error(`it has more than ${String(maxBytes)} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Error(`the answer broke off: ${toError(error).message}`, { cause: error });
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}
