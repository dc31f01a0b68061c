import type { DeadLetterSelection } from './dead-letter-selection.ts';

/**
 * The range of one partition of the dead-letter topic that a replay reads: offsets from `from` up to, but not including, `end`.
 */
export interface ReplayedPartition {
  readonly partition: number;
  readonly from: number;
  /** The counts of earlier tasks include all records before this offset. */
  readonly counted: number;
  readonly end: number;
}

/**
 * The dead-letter records that a task sends through the pipeline of its connector, instead of records of the connector's
 * topics. Plain data.
 */
export interface ReplayAssignment {
  /** The dead-letter topic. */
  readonly topic: string;
  /** Consumer group. Sinks that store offsets themselves store those of the replay under this name. */
  readonly group: string;
  readonly partitions: readonly ReplayedPartition[];
  readonly selection: DeadLetterSelection;
}

/** Progress of a replay. The counts cover the dead-letter records from `counted` of the assignment up to the positions. */
export interface ReplayProgress {
  /** Number of records that were read from the topic. */
  readonly read: number;
  /** Number of these records that match the selection. */
  readonly selected: number;
  /** Number of selected records that transforms dropped. */
  readonly dropped: number;
  /** Number of records that failed again and were written to the topic again. */
  readonly failed: number;
  /** The counts include all records before `next`. Of these, the selected ones are stored or have failed again. */
  readonly positions: readonly { readonly partition: number; readonly next: number }[];
  /** True if no records are left to read. */
  readonly isDone: boolean;
}
