import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { bodyChunks, BodyTooLargeError, toError, type BodyLimits } from '../../../src/index.ts';
import { ApiFailure } from '../route.ts';

/** Size of decompressed chunks. Each chunk is a job of the thread pool and a turn of the event loop; Node's default is 16 KiB. */
const UNPACKED_CHUNK_BYTES = 1 << 17;

/** Reads and decompresses the body; see ApiRequest.body. */
export async function* readBody(request: IncomingMessage, limits: BodyLimits): AsyncGenerator<Buffer> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isPlain = encoding === 'identity' || encoding === '';
  const source = isPlain ? request : unpack(request, encoding);
  try {
    yield* bodyChunks(request, limits, source);
  } catch (error) {
    if (error instanceof BodyTooLargeError) throw tooLarge(limits.maxBytes);
    throw error instanceof ApiFailure ? error : unreadable(error, isPlain ? undefined : encoding);
  } finally {
    if (source !== request) source.destroy();
  }
}

/**
 * Reads the whole body as text, which is decoded while it arrives. A byte order mark is dropped. Rejects with an ApiFailure 400 if the
 * body is not UTF-8.
 */
export async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Buffer): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      throw new ApiFailure(400, 'the request body is not UTF-8 text', { cause: error });
    }
  };
  let text = '';
  for await (const chunk of body) text += decode(chunk);
  return text + decode();
}

function unpack(request: IncomingMessage, encoding: string): Readable {
  const unpacker =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip({ chunkSize: UNPACKED_CHUNK_BYTES })
      : encoding === 'deflate'
        ? createInflate({ chunkSize: UNPACKED_CHUNK_BYTES })
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
  const message = `the request body is larger than ${String(maxBytes)} bytes (max.body.bytes)`;
  return new ApiFailure(400, message, { kind: 'body-too-large' });
}

function unreadable(error: unknown, encoding: string | undefined): ApiFailure {
  const what = encoding === undefined ? 'read to its end' : `unpacked as ${encoding}`;
  return new ApiFailure(400, `the request body cannot be ${what}: ${toError(error).message}`, { cause: error });
}
