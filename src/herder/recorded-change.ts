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
  /** Of basic authentication; `null` without it. */
  readonly user: string | null;
  /** Of the client; `null` where a request was forwarded by a worker that does not vouch for it. */
  readonly address: string | null;
  /** Of the worker that forwarded the request; absent for one that came from the client itself. */
  readonly via?: string;
}

/** Of a change that this worker makes. */
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
