import type { Context } from './resource.ts';

/** Returns a signal that aborts when the client has disconnected, or has received its answer. */
export function goneSignal({ res, req }: Pick<Context, 'res' | 'req'>): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  // The client may have disconnected earlier.
  if (res.destroyed || req.socket.destroyed) gone.abort();
  return gone.signal;
}
