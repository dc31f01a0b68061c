import { DatabaseError, toError } from '../errors.ts';

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Keeps work of one lane in the order in which it came. When a piece fails, those waiting behind it fail too: what comes
 * later must not be done before what failed is done again. The lane is free again at once.
 */
export class Lanes {
  readonly #queues = new Map<string, Waiting[]>();

  async enter<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const occupied = this.#queues.get(lane);
    const queue = occupied ?? [];
    if (occupied === undefined) this.#queues.set(lane, queue);
    else await new Promise<void>((resolve, reject) => queue.push({ resolve, reject }));
    try {
      const result = await work();
      const next = queue.shift();
      if (next === undefined) this.#queues.delete(lane);
      else next.resolve();
      return result;
    } catch (error) {
      this.#queues.delete(lane);
      for (const waiting of queue.splice(0)) waiting.reject(behind(error));
      throw error;
    }
  }
}

function behind(cause: unknown): DatabaseError {
  const error = toError(cause);
  const scope = cause instanceof DatabaseError ? cause.scope : 'infrastructure';
  return new DatabaseError(`a write before this one failed: ${error.message}`, { scope, cause });
}
