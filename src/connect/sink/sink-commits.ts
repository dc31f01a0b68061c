import { within } from '../../async/within.ts';
import { topicPartitionKey } from '../../data/record.ts';
import type { Consumer, PartitionPosition } from '../../kafka/api.ts';
import { eventLoopWatch } from '../../observe/event-loop-watch.ts';
import type { PartitionOffset, SinkTask } from '../api.ts';
import { taskActivities, type TaskRuntime } from '../tasks/task-runner.ts';
import type { DeliveredOffsets } from './delivered-offsets.ts';
import { OffsetCommits } from './offset-commits.ts';
import type { RecordCare } from './record-care.ts';
import type { SinkPositions } from './sink-positions.ts';
import { unrecoverable } from './sink-puts.ts';
import type { SinkTaskLog } from './sink-task-log.ts';

/**
 * Time limit of the last commit after a failure. It includes the time that the task needs to store its pending records (see
 * `SinkTask.preCommit`).
 */
const AFTER_FAILURE_MS = 10_000;

/** The offsets of a sink task, and its suspect and poisoned records. */
interface SinkOffsets {
  readonly positions: SinkPositions;
  readonly delivery: DeliveredOffsets;
  readonly care: RecordCare;
}

/** Commits the offsets that a sink task reports as stored: periodically, on request, and before partitions are released. */
export class SinkCommits {
  readonly #runtime: TaskRuntime;
  readonly #task: Pick<SinkTask, 'preCommit'>;
  readonly #positions: SinkPositions;
  readonly #delivery: DeliveredOffsets;
  readonly #care: RecordCare;
  readonly #log: SinkTaskLog;
  readonly #activity: string;
  readonly #commits: OffsetCommits;
  #nextMs: number;
  #isRequested = false;

  constructor(
    runtime: TaskRuntime,
    task: Pick<SinkTask, 'preCommit'>,
    consumer: Pick<Consumer, 'commit'>,
    { positions, delivery, care }: SinkOffsets,
    log: SinkTaskLog,
  ) {
    this.#runtime = runtime;
    this.#task = task;
    this.#positions = positions;
    this.#delivery = delivery;
    this.#care = care;
    this.#log = log;
    this.#activity = taskActivities(runtime.assignment.id).preCommit;
    this.#commits = new OffsetCommits(consumer, runtime, (committed, ms) => this.#onCommitted(committed, ms));
    this.#nextMs = Date.now() + runtime.offsetFlushIntervalMs;
  }

  /** When the next commit is due, in milliseconds since the epoch. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Time of the next attempt after a failed commit, in milliseconds since the epoch; see OffsetCommits. */
  get retryAtMs(): number {
    return this.#commits.retryAtMs;
  }

  /** Requests a commit as soon as possible, without waiting for it. */
  request(): void {
    this.#isRequested = true;
  }

  async commitIfDue(): Promise<void> {
    const now = Date.now();
    if (this.#isRequested) this.#nextMs = Math.min(this.#nextMs, Math.max(now, this.#commits.retryAtMs));
    this.#isRequested = false;
    if (now < this.#nextMs) return;
    this.#nextMs = now + this.#runtime.offsetFlushIntervalMs;
    await this.commit(false);
  }

  /**
   * Commits the offsets that the task reports as stored. With `wait`, resolves with true if all of them are committed.
   * Without `wait`, does not wait for the broker, and does nothing while an earlier commit is in flight.
   */
  async commit(wait: boolean): Promise<boolean> {
    if (this.#commits.inFlight !== undefined) {
      if (!wait) return false;
      await this.#commits.inFlight;
    }
    const positions = (await this.#preCommit(wait)).filter((offset) => this.#isCommittable(offset));
    if (positions.length === 0) return true;
    this.#log.committing(positions, wait);
    const commit = this.#commits.commit(positions);
    return wait && commit;
  }

  /**
   * Waits for a last commit, so that stored records are not read again after a restart (WorkerSinkTask#closeAllPartitions). The
   * wait is limited, so that the failure is reported soon.
   */
  async commitAfterFailure(): Promise<void> {
    const { logger } = this.#runtime;
    const committing = this.commit(true).catch((error: unknown) => {
      logger.warn({ err: error }, 'Offset commit failed during close');
    });
    const isDone = await within(committing, AFTER_FAILURE_MS);
    if (!isDone) logger.warn('The offset commit timed out; the last records will be read again');
  }

  /** Called when all records of the partition before the offset are stored or skipped. */
  pass(passed: PartitionOffset): void {
    const { assignment, onEvent } = this.#runtime;
    if (this.#care.pass(passed)) onEvent({ id: assignment.id, state: 'PASSED', passed });
  }

  #onCommitted(positions: readonly PartitionPosition[], ms: number): void {
    this.#log.committed(positions, ms);
    for (const position of positions) {
      this.#positions.commit(position);
      this.pass(position);
    }
    this.#runtime.measures.sink.active(this.#positions.active);
  }

  async #preCommit(flush: boolean): Promise<readonly PartitionOffset[]> {
    try {
      const preCommit = () => this.#task.preCommit(this.#positions.delivered, flush);
      return this.#delivery.confirmed(await eventLoopWatch.during(this.#activity, preCommit));
    } catch (error) {
      throw unrecoverable(error, this.#runtime);
    }
  }

  #isCommittable({ topic, partition, offset }: PartitionPosition): boolean {
    const key = topicPartitionKey(topic, partition);
    const delivered = this.#positions.delivered.get(key);
    if (delivered === undefined || offset > delivered.offset) {
      this.#runtime.logger.warn(
        `Ignoring the offset ${String(offset)} that the task returned for ${topic}-${String(partition)}: not all records before it were put into this task`,
      );
      return false;
    }
    return this.#positions.committed(key) !== offset;
  }
}
