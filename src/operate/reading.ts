export interface ReadOptions {
  /** Aborted when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** After this time without an answer, the thread is terminated. The readings themselves have shorter limits. */
  readonly timeoutMs: number;
}

/**
 * Performs a reading: one request to read topics or convert messages on behalf of a user. A reading is plain data, so
 * that it can be performed in another thread, because topics may have damaged or very large messages. Nothing is
 * written and nothing is committed. Resolves with a JSON text without secrets.
 * @throws RequestError 503: too many readings are waiting, this one took too long, or its thread ended; 409: the client
 * disconnected; other errors of the reading itself
 */
export type Read<Reading> = (reading: Reading, options: ReadOptions) => Promise<string>;
