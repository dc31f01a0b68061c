import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { httpResponse, type HttpRequest } from '../../http/http-client.ts';

/** A service of this process that serves HTTP. */
export interface OwnService {
  /** `https://host:port`, or `http://host:port` without TLS. */
  readonly url: string;
  /** The certificate of the service as PEM; absent if the service does not use TLS. */
  readonly certificate?: string | undefined;
}

export type PinnedRequest = Pick<HttpRequest, 'method' | 'headers' | 'body' | 'timeoutMs'> & {
  readonly path: string;
  readonly signal: AbortSignal;
};

/**
 * Sends a request to a service of this process. The caller must read or destroy the body of the answer. If the service
 * has a certificate, the request is sent only if the server presents exactly this certificate. The system need not
 * trust the certificate, and the certificate need not be valid for the host name in `url`.
 */
export async function pinnedResponse(
  service: OwnService,
  { path, ...request }: PinnedRequest,
): Promise<IncomingMessage> {
  const url = new URL(path, service.url);
  const { certificate } = service;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
  const connection = certificate === undefined ? undefined : await trusted(url, certificate, signal);
  try {
    const response = await httpResponse({ ...request, url, connection });
    response.once('close', () => connection?.destroy());
    return response;
  } catch (error) {
    connection?.destroy();
    throw error;
  }
}

/** Connects by TLS. If the server presents another certificate, this fails before any byte of the request is sent. */
async function trusted({ hostname, port }: URL, certificate: string, signal: AbortSignal): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = isIP(host) === 0 ? { servername: host } : {};
  // Comparing the certificate itself is stricter than checking its chain.
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...name });
  try {
    await once(socket, 'secureConnect', { signal });
    const other = socket.getPeerX509Certificate();
    if (other?.raw.equals(new X509Certificate(certificate).raw) === true) return socket;
    throw new Error(
      'the service presents a certificate that differs from its certificate file; try again in a few seconds',
    );
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
