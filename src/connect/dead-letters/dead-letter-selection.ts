/** Offsets of one partition of the dead-letter topic. */
export interface DeadLetterRange {
  readonly partition: number;
  /** The first offset; by default, the beginning of the partition. */
  readonly from?: number | undefined;
  /** The last offset; by default, the last offset at the time of the request. */
  readonly to?: number | undefined;
}

/** Selects dead-letter records of a connector. A member that is absent does not restrict the selection. */
export interface DeadLetterSelection {
  /** The id of a group of failures in the response of `GET /connectors/{c}/dead-letters`. */
  readonly group?: string | undefined;
  /** Selects only these partitions and offsets. */
  readonly offsets?: readonly DeadLetterRange[] | undefined;
  /** Range of the timestamps of the dead-letter records, in milliseconds since the epoch: `from` ≤ timestamp < `to`. */
  readonly time?: { readonly from?: number | undefined; readonly to?: number | undefined } | undefined;
  readonly filter?: DeadLetterFilter | undefined;
}

/** Each member that is present must match. All members but `message` must be equal. */
export interface DeadLetterFilter {
  readonly stage?: string | undefined;
  readonly class?: string | undefined;
  readonly sqlstate?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  /** The topic from which the failed record was consumed. */
  readonly topic?: string | undefined;
  /** Text that the error message must contain. */
  readonly message?: string | undefined;
}
