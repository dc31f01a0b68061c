import type { Context } from './resource.ts';

/** Aborted when the client has gone away, or has its answer. */
export function goneSignal({ res, req }: Pick<Context, 'res' | 'req'>): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  // It may have gone before anybody listened.
  if (res.destroyed || req.socket.destroyed) gone.abort();
  return gone.signal;
}
