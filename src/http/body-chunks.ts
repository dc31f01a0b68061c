import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

export class BodyTooLargeError extends Error {}

export interface BodyLimits {
  readonly maxBytes: number;
  /** If the client sends no data of its body for this long, its connection is closed. */
  readonly idleMs?: number;
}

/**
 * Yields the body of a request in chunks. If the body is compressed, `source` is the stream that unpacks it, and the
 * chunks of `source` are yielded instead. The request is not destroyed after an error, so that it can still be
 * answered; only the idle timeout destroys it.
 * @throws BodyTooLargeError beyond the limit; for an uncompressed body whose length is known, before anything is read
 */
export async function* bodyChunks(
  request: IncomingMessage,
  { maxBytes, idleMs }: BodyLimits,
  source: Readable = request,
): AsyncGenerator<Buffer> {
  if (source === request && Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLargeError();
  const watch = (): NodeJS.Timeout | undefined =>
    idleMs === undefined
      ? undefined
      : setTimeout(() => request.destroy(new Error(`no data for ${String(idleMs / 1000)} s`)), idleMs);
  let idle = watch();
  let bytes = 0;
  try {
    for await (const chunk of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new BodyTooLargeError();
      // The time that the consumer takes for a chunk does not count as idle time of the client.
      clearTimeout(idle);
      yield chunk;
      idle = watch();
    }
  } finally {
    clearTimeout(idle);
  }
}
