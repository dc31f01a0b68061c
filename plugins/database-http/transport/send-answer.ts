import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createGzip, gzip, gzipSync } from 'node:zlib';
import type { ApiAnswer, ApiBody } from '../route.ts';

/** Smaller answers are not compressed. */
const MIN_GZIP_BYTES = 1400;
const MIN_THREAD_BYTES = 64 * 1024;
const gzipInThread = promisify(gzip);

/**
 * Sends an answer. Resolves when it was sent or the connection was closed; rejects if the body is truncated. A client that reads
 * nothing for `stallMs` is disconnected.
 */
export async function sendAnswer(
  answer: ApiAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  stallMs: number,
): Promise<void> {
  const { body } = answer;
  response.statusCode = answer.status;
  if (body !== undefined) response.setHeader('Content-Type', 'application/json');
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (body === undefined) {
    response.end();
    return;
  }
  const compresses = acceptsGzip(request);
  if (compresses) response.appendHeader('Vary', 'Accept-Encoding');
  if (typeof body === 'string' || Buffer.isBuffer(body)) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const isCompressed = compresses && bytes.length >= MIN_GZIP_BYTES;
    await endWith(response, isCompressed ? await compress(bytes, response) : bytes, stallMs);
    return;
  }
  cutWhenStalled(response, stallMs);
  await stream(body, compresses, answer.trailers, response);
}

async function endWith(response: ServerResponse, bytes: Buffer, stallMs: number): Promise<void> {
  response.setHeader('Content-Length', bytes.length);
  cutWhenStalled(response, stallMs);
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.end(bytes, resolve);
  });
}

/** Compresses a body. A large body is compressed in another thread, because it would block other requests noticeably. */
async function compress(bytes: Buffer, response: ServerResponse): Promise<Buffer> {
  response.setHeader('Content-Encoding', 'gzip');
  const level = { level: constants.Z_BEST_SPEED };
  return bytes.length < MIN_THREAD_BYTES ? gzipSync(bytes, level) : gzipInThread(bytes, level);
}

async function stream(
  body: Exclude<ApiBody, string | Buffer>,
  compresses: boolean,
  trailers: ApiAnswer['trailers'],
  response: ServerResponse,
): Promise<void> {
  const source = Readable.from(body, { objectMode: false });
  if (compresses) {
    response.setHeader('Content-Encoding', 'gzip');
    const compressor = createGzip({ level: constants.Z_BEST_SPEED });
    await Promise.all([pipeline(source, compressor), pipeline(compressor, response, { end: false })]);
  } else {
    await pipeline(source, response, { end: false });
  }
  if (trailers !== undefined) response.addTrailers(trailers());
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.end(resolve);
  });
}

/**
 * Disconnects a client that reads nothing. If the socket is idle while bytes wait to be sent, the client is not reading. If no bytes
 * wait, the database is slow, and the timeout is restarted.
 */
function cutWhenStalled(response: ServerResponse, stallMs: number): void {
  const { socket } = response;
  const onSilence = (): void => {
    if (response.writableLength > 0) response.destroy();
    else socket?.setTimeout(stallMs);
  };
  response.setTimeout(stallMs, onSilence);
  response.once('finish', () => socket?.setTimeout(0));
}

function acceptsGzip(request: IncomingMessage): boolean {
  const header = request.headers['accept-encoding'];
  return typeof header === 'string' && /(?:^|,)\s*(?:x-)?gzip\s*(?:,|;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|$)/i.test(header);
}
