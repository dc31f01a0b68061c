import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Bytes that are not a single well-formed HTTP/1.1 request. */
export interface HostileRequest {
  readonly name: string;
  readonly bytes: string;
  /**
   * Allowed statuses of the response. If absent, the head is well formed, and the handler of the request determines the
   * status.
   */
  readonly statuses?: readonly number[];
}

/**
 * If a server finds the end of a request in another place than the proxy in front of it, it responds to this request as
 * well.
 */
export const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n';
const HEAD = 'POST /first HTTP/1.1\r\nHost: localhost\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const SMUGGLING: readonly (readonly [name: string, bytes: string])[] = [
  ['a length and chunks', `${HEAD}Content-Length: 4\r\n${CHUNKED}\r\n0\r\n\r\n${SMUGGLED}`],
  ['chunks and a length', `${HEAD}${CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['two lengths', `${HEAD}Content-Length: 0\r\nContent-Length: 44\r\n\r\n${SMUGGLED}`],
  ['two equal lengths', `${HEAD}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
  ['a list of lengths', `${HEAD}Content-Length: 0, 44\r\n\r\n${SMUGGLED}`],
  ['a signed length', `${HEAD}Content-Length: +0\r\n\r\n${SMUGGLED}`],
  ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n${SMUGGLED}`],
  ['a hexadecimal length', `${HEAD}Content-Length: 0x0\r\n\r\n${SMUGGLED}`],
  ['a length beyond all numbers', `${HEAD}Content-Length: 18446744073709551616\r\n\r\n${SMUGGLED}`],
  ['a blank in a length', `${HEAD}Content-Length: 0 0\r\n\r\n${SMUGGLED}`],
  ['a blank before the colon', `${HEAD}Content-Length : 0\r\n\r\n${SMUGGLED}`],
  ['chunks that are not the last coding', `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['two codings', `${HEAD}${CHUNKED}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['a coding after a vertical tab', `${HEAD}Transfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['a coding with a blank before the colon', `${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  [
    'a coding on a folded line',
    `${HEAD}Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['a folded header', `${HEAD}X-Folded: a\r\n\tContent-Length: 44\r\nContent-Length: 0\r\nX: \0\r\n\r\n${SMUGGLED}`],
  ['lines that end in a line feed alone', `POST /first HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n${SMUGGLED}`],
  ['a carriage return inside a header', `${HEAD}X: a\rContent-Length: 0\r\n\r\n${SMUGGLED}`],
  ['a NUL in a header', `${HEAD}X: a\0b\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`],
  [
    'chunks of HTTP/1.0',
    `POST /first HTTP/1.0\r\nHost: localhost\r\n${CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
];

/** The body is malformed, or ends with the connection, so the server responds to the head. */
const LATE: typeof SMUGGLING = [
  ['an unknown coding', `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk whose size is not a number', `${HEAD}${CHUNKED}\r\nzz\r\n\r\n${SMUGGLED}`],
  ['a chunk with a negative size', `${HEAD}${CHUNKED}\r\n-1\r\n\r\n${SMUGGLED}`],
  ['a chunk with a size beyond all numbers', `${HEAD}${CHUNKED}\r\nfffffffffffffffff\r\n\r\n${SMUGGLED}`],
  ['a chunk that is longer than its size', `${HEAD}${CHUNKED}\r\n1\r\nabc\r\n0\r\n\r\n${SMUGGLED}`],
  ['a chunk that ends in a line feed alone', `${HEAD}${CHUNKED}\r\n0\n\n${SMUGGLED}`],
];

const MALFORMED: readonly HostileRequest[] = [
  { name: 'no host', bytes: 'GET /first HTTP/1.1\r\n\r\n', statuses: [400] },
  { name: 'an unknown version', bytes: 'GET /first HTTP/9.9\r\nHost: localhost\r\n\r\n', statuses: [400, 505] },
  { name: 'an unknown method', bytes: 'FROB /first HTTP/1.1\r\nHost: localhost\r\n\r\n', statuses: [400] },
  { name: 'the preface of HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', statuses: [400, 505] },
  { name: 'a header of 100 kB', bytes: `${HEAD}X: ${'x'.repeat(100_000)}\r\n\r\n`, statuses: [431] },
  { name: '20,000 headers', bytes: `${HEAD}${'X: y\r\n'.repeat(20_000)}\r\n`, statuses: [431] },
  {
    name: 'a target of 100 kB',
    bytes: `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    statuses: [431],
  },
  { name: 'TLS in plain text', bytes: '\x15\x03\x01\x00\x02\x02\x28', statuses: [400] },
];

export const HOSTILE_REQUESTS: readonly HostileRequest[] = [
  ...SMUGGLING.map(([name, bytes]) => ({ name, bytes, statuses: [400] })),
  ...LATE.map(([name, bytes]) => ({ name, bytes })),
  ...MALFORMED,
];

/**
 * Sends these bytes and returns the response, up to the end of the connection or until the server has sent nothing for
 * `quietMs`.
 */
export async function answersTo(port: number, bytes: string, quietMs = 150): Promise<string> {
  return answersOf(connect(port, '127.0.0.1'), bytes, quietMs);
}

/** Same as `answersTo` over TLS, with any certificate. */
export async function secureAnswersTo(port: number, bytes: string, quietMs = 150): Promise<string> {
  return answersOf(connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }), bytes, quietMs);
}

async function answersOf(socket: Socket, bytes: string, quietMs: number): Promise<string> {
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  const listen = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => socket.destroy(), text === '' ? 20 * quietMs : quietMs);
  };
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    listen();
  });
  socket.on('error', () => undefined);
  // A server that closes before it has read everything resets the connection.
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(Buffer.from(bytes, 'latin1'));
  listen();
  await closed;
  clearTimeout(timer);
  return text;
}

/** Returns the statuses of all responses in a text. */
export function statusesOf(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
