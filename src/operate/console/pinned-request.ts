import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';

/** A service of this process that answers HTTP. */
export interface OwnService {
  /** `https://host:port` */
  readonly url: string;
  /** The certificate that it answers with, as PEM; absent: it answers plain HTTP. */
  readonly certificate?: string | undefined;
}

export interface PinnedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

export interface PinnedAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/**
 * A request to a service of this process; the body of the answer is still to be read, or destroyed. It is sent only to who has the
 * service's own certificate, which need not be one that the system trusts, nor be for the name that is used here.
 */
export async function pinnedResponse(
  service: OwnService,
  { method, path, headers, body, signal }: PinnedRequest,
): Promise<IncomingMessage> {
  const url = new URL(path, service.url);
  const socket = service.certificate === undefined ? undefined : await trusted(url, service.certificate, signal);
  try {
    const sent = httpRequest({
      ...{ method, path: url.pathname + url.search, signal },
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      headers: { ...headers, Host: url.host, Connection: 'close' },
      // With an agent, even none, Node makes a connection of its own.
      ...(socket === undefined ? { agent: false as const } : { createConnection: () => socket }),
    });
    sent.end(body);
    const [response] = (await once(sent, 'response', { signal })) as [IncomingMessage];
    sent.on('error', () => undefined);
    response.once('close', () => socket?.destroy());
    return response;
  } catch (error) {
    socket?.destroy();
    throw error;
  }
}

/** Rejects, and reads no further, when there are more bytes than these. */
export async function bodyOf(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the answer has more than ${String(maxBytes)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
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
