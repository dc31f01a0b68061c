/** The result of a check. `unknown`: the check was not possible or not permitted, which never prevents a start. */
export type Answer = 'yes' | 'no' | 'unknown';

/** The behaviour of a server, as far as Sluice relies on it (docs/databases.md). */
export interface ServerProbe {
  /** `host:port` */
  readonly server: string;
  /** The text of `version()` without the platform and the compiler. */
  readonly version: string;
  /** Whether a pooler is in between, or transactions of one connection run in several backends. */
  readonly sharesBackends: boolean;
  /** Whether a rollback removes the rows of a COPY. */
  readonly rollsBackCopies: Answer;
  /** Whether an advisory lock of a transaction is refused to other transactions. */
  readonly locksExclude: Answer;
  /** Whether a local setting ends with its transaction. */
  readonly keepsSettingsLocal: Answer;
  /** Whether LISTEN delivers notifications. */
  readonly delivers: Answer;
  /** Whether INSERT … SELECT FROM unnest(…) ON CONFLICT replaces rows. */
  readonly upsertsArrays: Answer;
}

export interface ProbeDemands {
  /** Whether the caller writes rows. If not, the checks that create a table are omitted. */
  readonly writes: boolean;
}
