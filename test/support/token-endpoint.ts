import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LIFETIME_S = 3600;

/** An OAuth 2 token endpoint for one client. It issues unsecured tokens for the client credentials grant. */
export class TokenEndpoint {
  /** Bodies of the requests that got a token. */
  readonly granted: string[] = [];
  readonly #server: Server;

  private constructor(clientId: string, clientSecret: string) {
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    this.#server = createServer((request, response) => void this.#answer(request, response, clientId, authorization));
  }

  static async start(clientId: string, clientSecret: string): Promise<TokenEndpoint> {
    const endpoint = new TokenEndpoint(clientId, clientSecret);
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/token`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    subject: string,
    authorization: string,
  ): Promise<void> {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += String(piece);
    if (request.headers.authorization !== authorization) {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
      return;
    }
    this.granted.push(body);
    const token = { access_token: unsecuredToken(subject), token_type: 'Bearer', expires_in: LIFETIME_S };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token));
  }
}

function unsecuredToken(subject: string): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const issuedAt = Math.floor(Date.now() / 1000);
  return `${encode({ alg: 'none' })}.${encode({ iat: issuedAt, exp: issuedAt + LIFETIME_S, sub: subject })}.`;
}
