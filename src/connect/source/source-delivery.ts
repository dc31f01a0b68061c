import type { SourceTask, SourceTransactions } from '../api.ts';
import type { ProducedRecord } from '../../kafka/api.ts';
import type { PolledBatch } from './polled-batch.ts';
import { isBlock, type PolledPart } from './source-block.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';

/**
 * Delivers polled records to the broker and their offsets to the store, either at least once or in transactions.
 *
 *   new --open--> open --begin--> taking batches --finish--> finished --close--> closed;  any --cancel--> closed
 */
export interface SourceDelivery {
  /** A record for this topic fails the task. */
  readonly reservedTopic: string | undefined;
  /** Set if the task defines transaction boundaries. */
  readonly transactions?: SourceTransactions | undefined;
  /** Returns the error of a record that is too large to be sent, or `undefined`. */
  refusal(record: ProducedRecord): Error | undefined;
  /** Set after the delivery has failed permanently. */
  readonly failure: Error | undefined;
  /** Called before the task starts and reads its offsets. */
  open(): Promise<void>;
  /** Called after the task has started. */
  begin(): void;
  /** Accepts the records of one poll. Resolves when the task may be polled again. Rejects if any delivery has failed. */
  take(batch: PolledBatch): Promise<void>;
  /** Called when the task was paused. */
  pause(): void;
  /**
   * Called after the last `take`. Resolves when the records that were taken are delivered or their delivery has failed, and
   * the offsets of delivered records are stored if possible.
   */
  finish(taskFailed: boolean): Promise<void>;
  close(): Promise<void>;
  /** Aborts the delivery immediately. */
  cancel(): void;
}

/** Notifies the task of records that were delivered or dropped. */
export function notifyDelivered({ logger }: TaskRuntime, task: SourceTask, sources: readonly PolledPart[]): void {
  if (task.commitRecord === undefined && task.commitBlock === undefined) return;
  for (const source of sources) {
    try {
      if (isBlock(source)) task.commitBlock?.(source);
      else task.commitRecord?.(source);
    } catch (error) {
      logger.error({ err: error }, 'Exception thrown while calling task.commitRecord()');
    }
  }
}

/** Notifies the task that offsets were stored. */
export async function notifyCommitted({ logger }: TaskRuntime, task: SourceTask): Promise<void> {
  try {
    await task.commit?.();
  } catch (error) {
    logger.error({ err: error }, 'Exception thrown while calling task.commit()');
  }
}

/** Closes the producer of a cancelled task in the background. */
export function closeInBackground(
  producer: { close(timeoutMs: number): Promise<void> },
  { logger }: TaskRuntime,
): void {
  producer.close(0).catch((error: unknown) => {
    logger.warn({ err: error }, 'Failed to close the producer of a cancelled task');
  });
}
