/** Offsets of one partition of the dead-letter topic. */
export interface DeadLetterRange {
  readonly partition: number;
  /** The first offset; the beginning of the partition if absent. */
  readonly from?: number | undefined;
  /** The last offset; what is there now if absent. */
  readonly to?: number | undefined;
}

/** Which letters of a connector; what is absent does not restrict. */
export interface DeadLetterSelection {
  /** The id of a group, as `GET /connectors/{c}/dead-letters` has it. */
  readonly group?: string | undefined;
  /** Only these partitions and offsets. */
  readonly offsets?: readonly DeadLetterRange[] | undefined;
  /** Timestamps of the letters, in milliseconds since the epoch: `from` ≤ timestamp < `to`. */
  readonly time?: { readonly from?: number | undefined; readonly to?: number | undefined } | undefined;
  readonly filter?: DeadLetterFilter | undefined;
}

/** Each member must be equal. */
export interface DeadLetterFilter {
  readonly stage?: string | undefined;
  readonly class?: string | undefined;
  readonly sqlstate?: string | undefined;
  readonly table?: string | undefined;
  readonly column?: string | undefined;
  /** The topic that the record came from. */
  readonly topic?: string | undefined;
  /** A part of the message. */
  readonly message?: string | undefined;
}
