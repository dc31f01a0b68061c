/** The kinds of entries in the history of a connector. `found`: the connector existed when the history began. */
export const CHANGES = [
  'found',
  'created',
  'changed',
  'restored',
  'deleted',
  'paused',
  'resumed',
  'stopped',
  'restarted',
  'offsetsChanged',
  'replayed',
] as const;
export type Change = (typeof CHANGES)[number];

/** The sender of a request. */
export interface Actor {
  /** The user name of basic authentication; `null` without it. */
  readonly user: string | null;
  /** The address of the client; `null` if the worker that forwarded the request did not sign it. */
  readonly address: string | null;
  /** The worker that forwarded the request; absent if the client sent it to this worker. */
  readonly via?: string;
}

/** The connector or task of a change, and who makes it. */
export interface ChangeOrigin {
  readonly connector: string;
  /** `null` if unknown. */
  readonly by: Actor | null;
  /** Number of the restored configuration in the history. */
  readonly restoredFrom?: number | undefined;
  /** The task that is restarted. */
  readonly task?: number | undefined;
  /** An automatic restart after a failure. */
  readonly automatic?: boolean | undefined;
}

/** Records changes in the history of connectors. */
export interface ChangeRecorder {
  /**
   * Makes a change and records it. `whatOf` returns the kind of the entry for the result, or `undefined` if nothing has changed. An error
   * of the change is passed on. If the entry cannot be written, this is logged, and the result is not delayed for long.
   */
  recorded<T>(origin: ChangeOrigin, work: () => Promise<T>, whatOf: (done: T) => Change | undefined): Promise<T>;
}
