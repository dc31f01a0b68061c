/**
 * The kinds of entries in the history of a connector. `found` means that the connector already existed when the history began.
 */
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
  /** The user name of basic authentication; `null` if it is not used. */
  readonly user: string | null;
  /** The address of the client; `null` if another worker forwarded the request without signing it. */
  readonly address: string | null;
  /** The worker that forwarded the request; absent if this worker received it from the client. */
  readonly via?: string;
}

/** The connector or task of a change, and who requested the change. */
export interface ChangeOrigin {
  readonly connector: string;
  /** `null` if unknown. */
  readonly by: Actor | null;
  /** Set if an earlier configuration is restored: the number of the history entry that contains it. */
  readonly restoredFrom?: number | undefined;
  /** Number of the task that is restarted. */
  readonly task?: number | undefined;
  /** Set for an automatic restart after a failure. */
  readonly automatic?: boolean | undefined;
}

/** Records changes in the history of connectors. */
export interface ChangeRecorder {
  /**
   * Makes a change and, unless the history is turned off, records it. `whatOf` returns the kind of the history entry
   * for the result, or `undefined` if nothing has changed. Rejects if the change fails. If the entry cannot be written,
   * the failure is only logged. The write does not delay the result for long.
   */
  recorded<T>(origin: ChangeOrigin, work: () => Promise<T>, whatOf: (done: T) => Change | undefined): Promise<T>;
}
