import type { ConnectionOptions } from 'node:tls';
import { RetriableError, toError } from '../errors.ts';
import { httpRequest, type HttpAnswer, type HttpRequest } from '../http/http-client.ts';

export interface PeerRequest extends Pick<HttpRequest, 'timeoutMs' | 'maxBytes'> {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** The other worker is unreachable, so it has not received the request. */
export class PeerUnreachableError extends RetriableError {}

/** Sends requests to the REST APIs of other workers. */
export class PeerClient {
  readonly #tls: ConnectionOptions | undefined;

  /** `tls` contains the settings for workers that use https. */
  constructor(tls: ConnectionOptions | undefined) {
    this.#tls = tls;
  }

  /**
   * Resolves with the response, whatever its status. Rejects if there is no response, and with a PeerUnreachableError if the
   * connection fails.
   */
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
