import { setTimeout as delay } from 'node:timers/promises';
import type { Handover, PartitionLag } from '../../kafka/api.ts';
import type { SourceDeadLetters } from '../pipeline/source-dead-letters.ts';
import type { PartitionOffset, TaskMetric, TaskPart, WrittenRows } from '../api.ts';
import type { StageFigures } from '../pipeline/stage-times.ts';
import type { Throttle } from '../pipeline/throttle.ts';
import type { Converters } from '../pipeline/record-converter.ts';
import type { ErrorPolicy } from '../pipeline/error-policy.ts';
import type { TransformationChain } from '../pipeline/transformation-chain.ts';
import {
  taskText,
  type RateLimit,
  type TaskAssignment,
  type TaskCare,
  type TaskEvent,
  type TaskId,
} from '../task-assignment.ts';
import type { SinkCounts, TaskMeasures } from './task-measures.ts';
import type { Logger } from '../../observe/logger.ts';
import type { TaskPlace } from '../../observe/work-place.ts';

/** A failure while a task is being stopped is logged, but does not set the task to FAILED (as in Connect's WorkerTask). */
const AFTER_SHUTDOWN = 'After being scheduled for shutdown, the task threw an uncaught exception';
const MAX_CAUSES = 10;

/**
 * Logs the failure of a task that is being stopped. If the stop cancelled the task's current work, the failure is logged only
 * at debug.
 */
export function logAfterShutdown(failure: Error, { abort, logger }: Pick<TaskRuntime, 'abort' | 'logger'>): void {
  let cause: unknown = failure;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    if (cause.name === 'AbortError' || cause === abort.signal.reason) {
      logger.debug({ err: failure }, 'The stop of the task cancelled its current work');
      return;
    }
    cause = cause.cause;
  }
  logger.warn({ err: failure }, AFTER_SHUTDOWN);
}

/**
 * Runs one task from start to end. `run` resolves when the task has stopped, and rejects if it failed before it was asked to
 * stop. It closes all clients in both cases. `pause` and `resume` take effect at the next iteration of the loop.
 */
export interface TaskRunner {
  run(): Promise<void>;
  pause(): void;
  resume(): void;
  /**
   * Asks the task to end. `run` resolves once it has ended. `handsOver` means that another worker will start the task
   * immediately.
   */
  stop(handsOver?: boolean): void;
  /** Set after `run`, for the next worker of the task. */
  readonly handover?: Handover | undefined;
  /** Called if the task did not end in time. The task then stops waiting and can no longer write. */
  cancel?(): void;
  /** Replaces the TaskCare of the assignment, after another thread has ended at records of the connector. */
  setCare?(care: TaskCare): void;
  setRateLimit(limit: RateLimit): void;
  /** Returns the status for metrics. May be called at any time. */
  details(): TaskDetails;
}

/** The status of a running task beyond its counts. */
export interface TaskDetails {
  /** Partitions that a sink task reads, with the number of records that are not delivered yet. */
  readonly partitions: readonly PartitionLag[];
  /** The parts of a source task, or the topics that a sink task waits for. */
  readonly parts: readonly TaskPart[];
  /** The task's own metrics, for a source task. */
  readonly metrics?: readonly TaskMetric[] | undefined;
  readonly progress: TaskProgress;
  /** The `hints` of the task: whole sentences for the user, shown with the health of the connector. */
  readonly hints?: readonly string[] | undefined;
  /** Measurements of the converter and the transforms. */
  readonly stages?: readonly StageFigures[] | undefined;
  /** Set for a sink task that counts its writes. */
  readonly written?: WrittenRows | undefined;
  /** True if the stages run within `put`. */
  readonly areStagesInPut?: boolean | undefined;
  /** Set for a sink task. */
  readonly reading?: TaskReading | undefined;
}

export interface TaskReading extends SinkCounts {
  /** True if the consumer has an assignment from its group, even an empty one. False during a rebalance. */
  readonly isInGroup: boolean;
  /** True if the user or a rate limit has paused the task. */
  readonly isPaused: boolean;
  /** True if a partition has records that the consumer has not read yet. */
  readonly isBehind: boolean;
}

/** Whether a task makes progress. */
export interface TaskProgress {
  /** Number of records that the task has received but not delivered. */
  readonly waiting: number;
  /**
   * Milliseconds without progress: since the last delivery while records are waiting, or since the beginning of a call that has
   * not returned or keeps failing. 0 if the task is not waiting.
   */
  readonly waitedMs: number;
  /** Milliseconds since the epoch; `undefined` if nothing has been delivered yet. */
  readonly deliveredAtMs: number | undefined;
  /** Duration in milliseconds of the last call of `put` that delivered records. */
  readonly lastPutMs?: number | undefined;
  /** Number of failed calls that were or will be retried. */
  readonly retries: number;
  /** The reason for the wait, if known. */
  readonly cause: string | undefined;
  /** Milliseconds for which a rate limit held the task back within the last ten seconds. */
  readonly throttledMs: number;
  /** Milliseconds for which a rate limit held the task back since its start. */
  readonly throttledTotalMs: number;
}

/** Returns the part that represents a topic that does not exist. */
export function waitedFor(topic: string): TaskPart {
  return { name: topic, state: 'WAITING', error: 'the topic does not exist', counts: {} };
}

/** Parts of the worker that both kinds of runners need. */
export interface TaskRuntime {
  readonly assignment: TaskAssignment;
  readonly converters: Converters;
  readonly chain: TransformationChain;
  readonly errors: ErrorPolicy;
  readonly logger: Logger;
  /** The logger of the plugin, named after its task class. */
  readonly pluginLogger: Logger;
  /** Aborted when the task must end. */
  readonly abort: AbortController;
  readonly onEvent: (event: TaskEvent) => void;
  /**
   * Returns false if another worker may already run this task. Nothing may be written then. The task waits until this
   * function returns true again, or until the task is stopped.
   */
  readonly mayWork: () => boolean;
  readonly offsetFlushIntervalMs: number;
  readonly offsetFlushTimeoutMs: number;
  /** Measurements of this task, for metrics. */
  readonly measures: TaskMeasures;
  /** Records what the task is doing, so that a hang of its thread can be attributed to a stage and to records. */
  readonly place: TaskPlace;
  readonly throttle: Throttle;
  /** Set for a source with a dead-letter topic and `errors.tolerance=all`. */
  readonly deadLetters?: SourceDeadLetters | undefined;
  /** Set for a replay. Called with the coordinates of each dead-letter record that a transform drops. */
  readonly onDropped?: ((place: PartitionOffset) => void) | undefined;
}

/** Names of the activities of a task, as used in the warning about a busy event loop. */
export interface TaskActivities {
  readonly start: string;
  readonly poll: string;
  readonly conversion: string;
  readonly put: string;
  readonly preCommit: string;
}

export function taskActivities(id: TaskId): TaskActivities {
  const task = `task ${taskText(id)}`;
  return {
    start: `start of ${task}`,
    poll: `poll of ${task}`,
    conversion: `conversion of records of ${task}`,
    put: `put of ${task}`,
    preCommit: `offset commit of ${task}`,
  };
}

const MAY_WORK_CHECK_MS = 50;

/** Waits until the task may write, and resolves with true. Resolves with false if it must stop first. */
export async function untilMayWork({ mayWork, abort }: Pick<TaskRuntime, 'mayWork' | 'abort'>): Promise<boolean> {
  while (!mayWork() && !abort.signal.aborted) await delay(MAY_WORK_CHECK_MS);
  return !abort.signal.aborted;
}

/** Releases the resources of a task whose runner could not be built. */
export function releaseTask({ abort, chain, errors, place, logger }: TaskRuntime): Promise<void> {
  abort.abort();
  place.close();
  return runAll([() => chain.close(), () => errors.close()], logger);
}

/** Runs all steps in order. A failure is logged and does not prevent the next steps. */
export async function runAll(steps: readonly (() => Promise<unknown> | void)[], logger: Logger): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      logger.warn({ err: error }, 'A step of stopping the task failed');
    }
  }
}
