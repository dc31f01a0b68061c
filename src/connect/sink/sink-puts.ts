import { topicPartitionKey } from '../../data/record.ts';
import { ConnectError, RetriableError, toError } from '../../errors.ts';
import type { RecordBlock } from '../../kafka/api.ts';
import { eventLoopWatch } from '../../observe/event-loop-watch.ts';
import { taskActivities, type TaskActivities, type TaskRuntime } from '../tasks/task-runner.ts';
import { valueBytes } from './consumer-holds.ts';
import type { DeliveredOffsets } from './delivered-offsets.ts';
import type { PolledRecords } from './polled-records.ts';
import type { SinkPositions } from './sink-positions.ts';
import { SinkProgress } from './sink-progress.ts';
import type { SinkTaskLog } from './sink-task-log.ts';

/** Polled records and their offsets. */
interface SinkRecords {
  readonly polled: PolledRecords;
  readonly positions: SinkPositions;
  readonly delivery: DeliveredOffsets;
}

/** Converts polled records and puts them into a sink task. */
export class SinkPuts {
  readonly progress: SinkProgress;
  readonly #runtime: TaskRuntime;
  readonly #polled: PolledRecords;
  readonly #positions: SinkPositions;
  readonly #delivery: DeliveredOffsets;
  readonly #log: SinkTaskLog;
  readonly #activities: TaskActivities;

  constructor(runtime: TaskRuntime, { polled, positions, delivery }: SinkRecords, log: SinkTaskLog) {
    this.progress = new SinkProgress(runtime.throttle);
    this.#runtime = runtime;
    this.#polled = polled;
    this.#positions = positions;
    this.#delivery = delivery;
    this.#log = log;
    this.#activities = taskActivities(runtime.assignment.id);
  }

  /** Converts the records of a poll and reports their topics as active. */
  async take(consumed: readonly RecordBlock[]): Promise<void> {
    this.#delivery.polled(consumed);
    this.#log.polled(consumed);
    if (consumed.length > 0) {
      this.#runtime.place.enter('conversion', this.#positions.unsettled());
      this.progress.begin('conversion');
    }
    await eventLoopWatch.during(this.#activities.conversion, () => this.#polled.take(consumed));
    const { measures, onEvent, throttle } = this.#runtime;
    const count = consumed.reduce((sum, block) => sum + block.count, 0);
    if (count > 0) measures.sink.read(count);
    if (throttle.isOn) throttle.taken(count, valueBytes(consumed));
    const { id } = this.#runtime.assignment;
    for (const { topic } of consumed) if (this.#polled.waitsFor(topic)) onEvent({ id, state: 'TOPIC', topic });
  }

  /** Puts the converted records, or a single step of them. Resolves with the error if the task requests a retry. */
  async put(): Promise<RetriableError | undefined> {
    const { measures, abort } = this.#runtime;
    const startedAt = measures.now();
    const put = { polled: 0, sent: 0 };
    if (this.#polled.count > 0) {
      this.progress.begin('put');
      this.#enterPut();
    }
    try {
      await eventLoopWatch.during(this.#activities.put, () =>
        this.#polled.put((end, count, sent) => {
          put.polled += count;
          put.sent += sent;
          const key = topicPartitionKey(end.topic, end.partition);
          if (this.#positions.delivered.has(key)) this.#positions.deliver(key, end);
        }),
      );
    } catch (error) {
      // The task may have accepted some of the records before it failed.
      if (put.polled > 0) this.#count(put, startedAt);
      if (!(error instanceof RetriableError) || abort.signal.aborted) throw unrecoverable(error, this.#runtime);
      return error;
    }
    this.#count(put, startedAt);
    // A record could not be converted. All earlier records have been put, so the failure is thrown now.
    if (this.#polled.isEmpty && this.#polled.failure !== undefined) throw this.#polled.failure;
    return undefined;
  }

  /** As in Java, records that a transform dropped or the error policy skipped do not count as sent. */
  #count({ polled, sent }: { readonly polled: number; readonly sent: number }, startedAt: number): void {
    const { measures } = this.#runtime;
    const ms = measures.now() - startedAt;
    this.#log.put(sent, ms);
    this.progress.put(polled, this.#polled.isEmpty, ms);
    measures.batch(sent);
    measures.sink.put(sent, startedAt);
    measures.sink.active(this.#positions.active);
  }

  #enterPut(): void {
    const { count, ranges } = this.#polled.next();
    // Before a step of suspect records is put, all earlier records are committed, unless the task cannot store them yet.
    this.#runtime.place.enter(`put of ${String(count)} record${count === 1 ? '' : 's'}`, [
      ...this.#positions.unsettled(),
      ...ranges,
    ]);
  }
}

/**
 * Wraps an error of the plugin with Connect's message, unless the task is being stopped. Failures of converters and clients
 * already have their own message.
 */
export function unrecoverable(cause: unknown, { abort }: Pick<TaskRuntime, 'abort'>): Error {
  if (abort.signal.aborted) return toError(cause);
  return new ConnectError('Exiting WorkerSinkTask due to unrecoverable exception.', { cause });
}
