import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { httpResponse, type HttpRequest } from '../../http/http-client.ts';

/** A service of this process that answers HTTP. */
export interface OwnService {
  /** `https://host:port` */
  readonly url: string;
  /** The certificate that it answers with, as PEM; absent: it answers plain HTTP. */
  readonly certificate?: string | undefined;
}

export type PinnedRequest = Pick<HttpRequest, 'method' | 'headers' | 'body' | 'timeoutMs'> & {
  readonly path: string;
  readonly signal: AbortSignal;
};

/**
 * A request to a service of this process; the body of the answer is still to be read, or destroyed. It is sent only to who has the
 * service's own certificate, which need not be one that the system trusts, nor be for the name that is used here.
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

/** No byte of the request goes to anybody else. */
async function trusted({ hostname, port }: URL, certificate: string, signal: AbortSignal): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const name = isIP(host) === 0 ? { servername: host } : {};
  // The certificate itself is compared, which is more than a chain would say.
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...name });
  try {
    await once(socket, 'secureConnect', { signal });
    const other = socket.getPeerX509Certificate();
    if (other?.raw.equals(new X509Certificate(certificate).raw) === true) return socket;
    throw new Error('the service answers with another certificate than its file has; try again in some seconds');
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
