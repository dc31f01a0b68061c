import type { ConnectionOptions } from 'node:tls';
import { RetriableError, toError } from '../errors.ts';
import { httpRequest, type HttpAnswer, type HttpRequest } from '../http/http-client.ts';

export interface PeerRequest extends Pick<HttpRequest, 'timeoutMs' | 'maxBytes'> {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** The other worker is unreachable and has not received the request. */
export class PeerUnreachableError extends RetriableError {}

/** Requests to the REST APIs of other workers. */
export class PeerClient {
  readonly #tls: ConnectionOptions | undefined;

  /** `tls`: settings for workers that listen with https. */
  constructor(tls: ConnectionOptions | undefined) {
    this.#tls = tls;
  }

  /** Resolves with an answer of any status. Rejects if there is no answer, with a PeerUnreachableError if there is no connection. */
  async request({ url, ...request }: PeerRequest): Promise<HttpAnswer> {
    try {
      return await httpRequest({ ...request, url: new URL(url), tls: this.#tls });
    } catch (error) {
      const { message, syscall } = toError(error) as NodeJS.ErrnoException;
      if (syscall !== 'connect' && syscall !== 'getaddrinfo') throw error;
      throw new PeerUnreachableError(message, { cause: error });
    }
  }
}
