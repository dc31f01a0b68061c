import type { TopicPartition } from '../data/record.ts';
import type { Handover } from '../kafka/api.ts';
import type { RecordRange } from '../observe/work-place.ts';
import type { ConnectorConfig, PartitionOffset } from './api.ts';
import type { ReplayAssignment, ReplayProgress } from './dead-letters/replay-assignment.ts';
import type { Failure } from './task-failure.ts';

export interface TaskId {
  readonly connector: string;
  readonly task: number;
  /**
   * Number of the replay, for a task that replays dead-letter records. Such a task is not one of the connector's own
   * tasks.
   */
  readonly replay?: number | undefined;
}

/**
 * Returns `connector-task`, as Connect prints it. For a replay, returns `connector/replay/number`, which differs from
 * the text of every other task.
 */
export function taskText({ connector, task, replay }: TaskId): string {
  return replay === undefined ? `${connector}-${String(task)}` : `${connector}/replay/${String(replay)}`;
}

/** The state of a connector that the user requested (config topic, `state.v2`). */
export type TargetState = 'STARTED' | 'PAUSED' | 'STOPPED';

/**
 * Everything that a task host needs to run one task. It is plain data, so that the host can be in another thread. Variables of
 * config providers are resolved only when the task is started.
 */
export interface TaskAssignment {
  readonly id: TaskId;
  readonly type: 'sink' | 'source';
  /** Number of tasks of the connector. They share its rate limit. */
  readonly tasks: number;
  readonly connectorConfig: ConnectorConfig;
  readonly taskConfig: ConnectorConfig;
  readonly targetState: TargetState;
  /** Set if worker threads have hung, crashed or run out of memory and records of the connector may be the cause. */
  readonly care?: TaskCare | undefined;
  /** Set for a task that replays dead-letter records. */
  readonly replay?: ReplayAssignment | undefined;
  /**
   * Set if the task moved here from another worker. The task then continues the group membership of its previous
   * consumer.
   */
  readonly handover?: Handover | undefined;
}

/** Limits per second of one task; `undefined` means no limit. */
export interface RateLimit {
  readonly records: number | undefined;
  readonly bytes: number | undefined;
}

/** Records at which worker threads may have hung, crashed or run out of memory while they ran tasks of the connector. */
export interface TaskCare {
  /** Ranges that may contain a record at which a thread ended. Their records are put in small steps. */
  readonly suspects: readonly RecordRange[];
  /** Records that are neither converted nor put, but passed to the error policy. */
  readonly poisoned: readonly PoisonedRecord[];
}

/** A record at which at least two threads have ended. */
export interface PoisonedRecord extends TopicPartition {
  readonly offset: number;
  readonly stage: 'conversion' | 'put';
  readonly message: string;
  /** Stack frames of the last of these threads, as in the stack of an Error. */
  readonly stack: string;
}

/**
 * An event that a task host reports about a task. The events of one task are in order. STOPPED is the last event; after FAILED,
 * no other state is reported.
 */
export type TaskEvent =
  | { readonly id: TaskId; readonly state: 'RUNNING' | 'PAUSED' }
  /** `handover` is for the next worker of the task. It is set if the stop requested it and the consumer could stay in its group. */
  | { readonly id: TaskId; readonly state: 'STOPPED'; readonly handover?: Handover | undefined }
  | { readonly id: TaskId; readonly state: 'FAILED'; readonly trace: string; readonly failure: Failure }
  /** Reported once after RUNNING, when the task has handled the records of a first poll or has found none. */
  | { readonly id: TaskId; readonly state: 'READY' }
  | { readonly id: TaskId; readonly state: 'TOPIC'; readonly topic: string }
  | { readonly id: TaskId; readonly state: 'REPLAYED'; readonly progress: ReplayProgress }
  /** Records listed in TaskCare are finished: all records of the partition before the offset are stored or skipped. */
  | { readonly id: TaskId; readonly state: 'PASSED'; readonly passed: PartitionOffset };

/**
 * Returns true if the event reports one of the states RUNNING, PAUSED, STOPPED and FAILED. A task is in exactly one of
 * them at a time, once it has started.
 */
export function isState(
  event: TaskEvent,
): event is Extract<TaskEvent, { state: 'RUNNING' | 'PAUSED' | 'STOPPED' | 'FAILED' }> {
  const { state } = event;
  return state === 'RUNNING' || state === 'PAUSED' || state === 'STOPPED' || state === 'FAILED';
}
