import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

export class BodyTooLargeError extends Error {}

export interface BodyLimits {
  readonly maxBytes: number;
  /** The connection of a client that sends nothing for this long, while its body is awaited, is closed. */
  readonly idleMs?: number;
}

/**
 * The body of a request, or what `source` unpacks of it, piece by piece. Throws a BodyTooLargeError beyond the limit, before reading
 * where the length is known. The request is not destroyed then: one that is refused in the middle of its body is still answered.
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
