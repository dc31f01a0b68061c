import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { toError } from '../../src/index.ts';
import { ApiFailure } from './route.ts';

/** A client that sends nothing for this long while its body is awaited is given up. */
const IDLE_MS = 30_000;

/** The body, unpacked; see ApiRequest.body. */
export async function* readBody(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  const length = Number(request.headers['content-length'] ?? '0');
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isPlain = encoding === 'identity' || encoding === '';
  if (isPlain && length > maxBytes) throw tooLarge(maxBytes);
  const source = isPlain ? request : unpack(request, encoding);
  const watch = (): NodeJS.Timeout =>
    setTimeout(() => request.destroy(new Error(`no data for ${String(IDLE_MS / 1000)} s`)), IDLE_MS);
  let idle = watch();
  let bytes = 0;
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      // What the consumer does with the chunk is not the client's idleness.
      clearTimeout(idle);
      yield chunk;
      idle = watch();
    }
  } catch (error) {
    throw error instanceof ApiFailure ? error : unreadable(error, isPlain ? undefined : encoding);
  } finally {
    clearTimeout(idle);
    if (source !== request) source.destroy();
  }
}

/** The whole body as text. */
export async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const [only] = chunks;
  const bytes = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
  try {
    // Drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ApiFailure(400, 'the request body is not UTF-8 text', { cause: error });
  }
}

function unpack(request: IncomingMessage, encoding: string): Readable {
  const unpacker =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : undefined;
  if (unpacker === undefined) {
    throw new ApiFailure(
      400,
      `the content encoding "${encoding.slice(0, 32)}" is not known; send gzip, deflate or none`,
    );
  }
  request.on('error', (error) => unpacker.destroy(error));
  request.on('aborted', () => unpacker.destroy(new Error('aborted')));
  return request.pipe(unpacker);
}

function tooLarge(maxBytes: number): ApiFailure {
  return new ApiFailure(400, `the request body is larger than ${String(maxBytes)} bytes (max.body.bytes)`);
}

function unreadable(error: unknown, encoding: string | undefined): ApiFailure {
  const what = encoding === undefined ? 'read to its end' : `unpacked as ${encoding}`;
  return new ApiFailure(400, `the request body cannot be ${what}: ${toError(error).message}`, { cause: error });
}
