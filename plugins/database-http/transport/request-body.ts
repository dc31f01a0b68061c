import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate } from 'node:zlib';
import { toError } from '../../../src/index.ts';
import { ApiFailure } from '../route.ts';

export interface BodyLimits {
  readonly maxBytes: number;
  /** A client that sends nothing for this long while its body is awaited is given up. */
  readonly idleMs: number;
}

/** Each chunk is a job for another thread and a turn of this one; Node's 16 KiB are soon unpacked. */
const UNPACKED_CHUNK_BYTES = 1 << 17;

/** The body, unpacked; see ApiRequest.body. */
export async function* readBody(request: IncomingMessage, { maxBytes, idleMs }: BodyLimits): AsyncGenerator<Buffer> {
  const length = Number(request.headers['content-length'] ?? '0');
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isPlain = encoding === 'identity' || encoding === '';
  if (isPlain && length > maxBytes) throw tooLarge(maxBytes);
  const source = isPlain ? request : unpack(request, encoding);
  const watch = (): NodeJS.Timeout =>
    setTimeout(() => request.destroy(new Error(`no data for ${String(idleMs / 1000)} s`)), idleMs);
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

/** The whole body as text, decoded as it comes; a byte order mark is dropped. */
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
