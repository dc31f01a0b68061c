import type { SourceTask, SourceTransactions } from '../api.ts';
import type { ProducedRecord } from '../../kafka/api.ts';
import type { PolledBatch } from './polled-batch.ts';
import { isBlock, type PolledPart } from './source-block.ts';
import type { TaskRuntime } from '../tasks/task-runner.ts';

/**
 * Brings what a source task polled to the broker, and its offsets to the store: at least once, or in transactions.
 *
 *   new --open--> open --begin--> taking batches --finish--> finished --close--> closed;  any --cancel--> closed
 */
export interface SourceDelivery {
  /** Records to this topic are refused. */
  readonly reservedTopic: string | undefined;
  /** Where the task sets the boundaries of transactions. */
  readonly transactions?: SourceTransactions | undefined;
  /** Why the record would not be sent, by its size; `undefined`: it would. */
  refusal(record: ProducedRecord): Error | undefined;
  /** Why nothing is delivered any more. */
  readonly failure: Error | undefined;
  /** Before the task is started, and reads its offsets. */
  open(): Promise<void>;
  /** The task has been started. */
  begin(): void;
  /** Takes the records of one poll; resolves when those of the next may come, rejects with any failure so far. */
  take(batch: PolledBatch): Promise<void>;
  /** The task is not polled for a while. */
  pause(): void;
  /** Nothing will be taken any more: resolves when all is delivered, and offsets are stored as far as they may be. */
  finish(taskFailed: boolean): Promise<void>;
  close(): Promise<void>;
  /** Gives everything up at once. */
  cancel(): void;
}

/** Notifies the task of records that are delivered or dropped. */
export function tellDelivered({ logger }: TaskRuntime, task: SourceTask, sources: readonly PolledPart[]): void {
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

/** Notifies the task that offsets are stored. */
export async function tellCommitted({ logger }: TaskRuntime, task: SourceTask): Promise<void> {
  try {
    await task.commit?.();
  } catch (error) {
    logger.error({ err: error }, 'Exception thrown while calling task.commit()');
  }
}

/** For a task that is cancelled: nobody waits for the end of its producer. */
export function closeAtOnce(producer: { close(timeoutMs: number): Promise<void> }, { logger }: TaskRuntime): void {
  producer.close(0).catch((error: unknown) => {
    logger.warn({ err: error }, 'The producer of a cancelled task could not be closed');
  });
}
