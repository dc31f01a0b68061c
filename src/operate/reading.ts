export interface ReadOptions {
  /** Aborted when the client no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** A thread that has not answered by then is ended. The readings themselves end earlier. */
  readonly timeoutMs: number;
}

/**
 * Performs a reading: one request to read topics or convert messages for people. A reading is plain data, so that another thread can
 * take it, because messages come from outside. Nothing is written and nothing is committed. Resolves with a JSON text without secrets.
 * @throws RequestError 503: too many readings at a time, or this one took too long
 */
export type Read<Reading> = (reading: Reading, options: ReadOptions) => Promise<string>;
