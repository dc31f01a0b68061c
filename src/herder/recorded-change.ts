/** The kinds of entries in the history of a connector. `found`: it existed when the history began. */
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

/** Who sent a request. */
export interface Actor {
  /** The user name of basic authentication; `null` without it. */
  readonly user: string | null;
  /** The address of the client; `null` if the worker that forwarded the request does not vouch for it. */
  readonly address: string | null;
  /** The worker that forwarded the request; absent if the client sent it to this worker. */
  readonly via?: string;
}

/** Which connector or task a change concerns, and who makes it. */
export interface ChangeOrigin {
  readonly connector: string;
  /** `null`: not known. */
  readonly by: Actor | null;
  /** The number in the history of the configuration that is put back. */
  readonly restoredFrom?: number | undefined;
  /** The task that is restarted. */
  readonly task?: number | undefined;
  /** A restart after a failure that no user asked for. */
  readonly automatic?: boolean | undefined;
}

/** Keeps a record of changes. */
export interface ChangeRecorder {
  /**
   * Makes a change and records it as what `whatOf` says of its result; `undefined`: nothing changed. The change fails as it does; that it
   * cannot be recorded is logged, and the answer does not wait for long.
   */
  recorded<T>(origin: ChangeOrigin, work: () => Promise<T>, whatOf: (done: T) => Change | undefined): Promise<T>;
}
