import type { DeadLetterSelection } from './dead-letter-selection.ts';

/** The range of one partition of the dead-letter topic that is read: offsets from `from` to before `end`. */
export interface ReplayedPartition {
  readonly partition: number;
  readonly from: number;
  /** All before it is in the counts of earlier tasks. */
  readonly counted: number;
  readonly end: number;
}

/** The dead letters that a task sends through the pipeline of its connector, instead of the connector's topics. Plain data. */
export interface ReplayAssignment {
  /** The dead-letter topic. */
  readonly topic: string;
  /** Consumer group; sinks that keep offsets themselves keep those of the replay under this name. */
  readonly group: string;
  readonly partitions: readonly ReplayedPartition[];
  readonly selection: DeadLetterSelection;
}

/** How far a replay came: the counts are those of the letters between `counted` of the assignment and the positions. */
export interface ReplayProgress {
  /** Records of the topic. */
  readonly read: number;
  /** The number of letters that the selection contains. */
  readonly selected: number;
  /** The number of selected letters that transforms dropped. */
  readonly dropped: number;
  /** Letters that failed once more, and were written to the topic again. */
  readonly failed: number;
  /** All letters before `next` are in the counts: those of the selection are stored, or have failed once more. */
  readonly positions: readonly { readonly partition: number; readonly next: number }[];
  /** Nothing is left to be read. */
  readonly isDone: boolean;
}
