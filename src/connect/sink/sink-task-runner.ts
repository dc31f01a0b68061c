import type { TopicPartition } from '../../data/record.ts';
import { toError } from '../../errors.ts';
import type { Handover, TopicPredicate } from '../../kafka/api.ts';
import { eventLoopWatch } from '../../observe/event-loop-watch.ts';
import type { SinkTask, SinkTaskContext } from '../api.ts';
import { ConsumerHolds } from './consumer-holds.ts';
import { DeliveredOffsets } from './delivered-offsets.ts';
import { taskRecords, type PolledRecords } from './polled-records.ts';
import { SinkCommits } from './sink-commits.ts';
import { SinkPositions } from './sink-positions.ts';
import { SinkPuts } from './sink-puts.ts';
import { sinkTaskContext, type SinkConsumer } from './sink-task-context.ts';
import { SinkTaskLog } from './sink-task-log.ts';
import { Readiness } from '../tasks/readiness.ts';
import type { RateLimit, TaskCare } from '../task-assignment.ts';
import {
  logAfterShutdown,
  runAll,
  taskActivities,
  untilMayWork,
  waitedFor,
  type TaskDetails,
  type TaskRunner,
  type TaskRuntime,
} from '../tasks/task-runner.ts';

/**
 * Runs one sink task with one consumer (org.apache.kafka.connect.runtime.WorkerSinkTask). One loop commits if a commit is due,
 * polls, converts and puts, so calls to the task never overlap.
 *
 * States: starting -> running <-> paused; each of them -> stopped or, after a failure, failed. While a batch is being retried, all
 * partitions are paused, and polling continues without returning records.
 */
export class SinkTaskRunner implements TaskRunner {
  readonly #runtime: TaskRuntime;
  readonly #task: SinkTask;
  readonly #consumer: SinkConsumer;
  readonly #topics: readonly string[] | TopicPredicate;
  readonly #polled: PolledRecords;
  readonly #log: SinkTaskLog;
  readonly #positions = new SinkPositions();
  readonly #delivery: DeliveredOffsets;
  readonly #puts: SinkPuts;
  readonly #commits: SinkCommits;
  readonly #holds: ConsumerHolds;
  readonly #readiness: Readiness;
  #wantPaused: boolean;
  #handsOver = false;
  handover: Handover | undefined;

  constructor(
    runtime: TaskRuntime,
    task: SinkTask,
    consumer: SinkConsumer,
    topics: readonly string[] | TopicPredicate,
  ) {
    this.#runtime = runtime;
    this.#task = task;
    this.#consumer = consumer;
    this.#topics = topics;
    this.#log = new SinkTaskLog(runtime.logger);
    this.#polled = taskRecords(runtime, task);
    this.#delivery = new DeliveredOffsets(task, consumer, this.#positions, runtime.measures.sink);
    const records = { polled: this.#polled, positions: this.#positions, delivery: this.#delivery };
    this.#puts = new SinkPuts(runtime, records, this.#log);
    this.#commits = new SinkCommits(runtime, task, consumer, { ...records, care: this.#polled.care }, this.#log);
    this.#holds = new ConsumerHolds(consumer, runtime.throttle);
    this.#readiness = new Readiness(runtime.assignment.id, runtime.onEvent);
    this.#wantPaused = runtime.assignment.targetState !== 'STARTED';
    runtime.abort.signal.addEventListener('abort', () => {
      consumer.wakeup();
    });
  }

  pause(): void {
    this.#wantPaused = true;
    this.#consumer.wakeup();
  }

  resume(): void {
    this.#wantPaused = false;
    this.#consumer.wakeup();
  }

  stop(handsOver = false): void {
    this.#handsOver = handsOver;
    this.#runtime.abort.abort();
  }

  setCare(care: TaskCare): void {
    this.#polled.care.set(care);
  }

  setRateLimit(limit: RateLimit): void {
    this.#runtime.throttle.set(limit);
    this.#consumer.wakeup();
  }

  details(): TaskDetails {
    return {
      partitions: this.#delivery.lags(),
      parts: this.#consumer.missingTopics().map(waitedFor),
      ...this.#runtime.chain.times.details(),
      written: this.#task.written?.(),
      hints: this.#task.hints?.(),
      progress: this.#puts.progress.values(this.#polled.count, this.#task.waiting?.()),
      reading: { ...this.#holds.reading(), ...this.#runtime.measures.sink.progress() },
    };
  }

  async run(): Promise<void> {
    const { assignment, onEvent, place } = this.#runtime;
    let failure: Error | undefined;
    try {
      place.enter('start');
      this.#puts.progress.begin('start');
      await eventLoopWatch.during(taskActivities(assignment.id).start, () => this.#task.start(this.#context()));
      this.#puts.progress.rest();
      const listener = {
        onAssigned: (partitions: readonly TopicPartition[]) => this.#onAssigned(partitions),
        onRevoked: (partitions: readonly TopicPartition[]) => this.#onRevoked(partitions, true),
        onLost: (partitions: readonly TopicPartition[]) => this.#onRevoked(partitions, false),
      };
      this.#consumer.subscribe(this.#topics, listener, assignment.handover);
      if (this.#wantPaused) this.#holds.add('request');
      onEvent({ id: assignment.id, state: this.#wantPaused ? 'PAUSED' : 'RUNNING' });
      while (!this.#runtime.abort.signal.aborted) await this.#runOnce();
    } catch (error) {
      failure = toError(error);
    }
    await this.#end(failure !== undefined && failure.name !== 'AbortError');
    place.close();
    if (failure === undefined) return;
    if (!this.#runtime.abort.signal.aborted) throw failure;
    logAfterShutdown(failure, this.#runtime);
  }

  async #runOnce(): Promise<void> {
    if (!(await this.#mayWork())) return;
    this.#applyPause();
    await this.#commits.commitIfDue();
    const wakeAtMs = Math.min(this.#holds.untilMs(), this.#commits.nextMs);
    const waitMs = Math.min(Math.max(0, wakeAtMs - Date.now()), this.#readiness.pollMs);
    const consumed = await this.#consumer.pollBlocks(waitMs, this.#holds.pollMax);
    if (this.#runtime.abort.signal.aborted) return;
    if (!this.#holds.has('retry')) await this.#puts.take(consumed);
    if (!(await this.#mayWork())) return;
    if (this.#holds.mayPut) await this.#putAll();
    if (this.#consumer.isInGroup && !this.#holds.has('retry')) this.#readiness.report();
  }

  /**
   * Puts all waiting records. Suspect records (see record-care.ts) are put in steps. Before a step is put, all earlier
   * records that the task can store are stored and committed, so that only the step can be the reason for a hang.
   */
  async #putAll(): Promise<void> {
    do {
      const { isCareful } = this.#polled;
      if (isCareful && this.#positions.active > 0 && !(await this.#commitPut())) return;
      await this.#put();
      if (isCareful && !this.#holds.has('retry')) await this.#commitPut();
    } while (!this.#polled.isEmpty && !this.#holds.has('retry') && (await this.#mayWork()));
  }

  /** Commits the records that were put. If the commit fails, the next records wait until it may be retried. */
  async #commitPut(): Promise<boolean> {
    const isCommitted = await this.#commits.commit(true);
    if (!isCommitted) this.#holds.retryAt(this.#commits.retryAtMs);
    return isCommitted;
  }

  /** Resolves with `false` if the task must stop. */
  async #mayWork(): Promise<boolean> {
    return this.#runtime.mayWork() || untilMayWork(this.#runtime);
  }

  async #put(): Promise<void> {
    const retry = await this.#puts.put();
    if (retry === undefined) {
      this.#holds.remove('retry');
      return;
    }
    const { retryDelayMs } = this.#holds;
    this.#runtime.logger.warn(
      { err: retry },
      `put() of the task requested a retry; its ${String(this.#polled.count)} records are put again in ${String(retryDelayMs)} ms`,
    );
    const retryAtMs = Date.now() + retryDelayMs;
    this.#holds.retryAt(retryAtMs);
    this.#puts.progress.retried(retry, retryAtMs);
  }

  #applyPause(): void {
    if (this.#wantPaused === this.#holds.has('request')) return;
    if (this.#wantPaused) {
      this.#holds.add('request');
      this.#commits.request();
    } else {
      this.#holds.remove('request');
    }
    this.#runtime.onEvent({ id: this.#runtime.assignment.id, state: this.#wantPaused ? 'PAUSED' : 'RUNNING' });
  }

  async #onAssigned(partitions: readonly TopicPartition[]): Promise<void> {
    for (const { topic, partition } of partitions) {
      const position = this.#consumer.position({ topic, partition });
      this.#log.assigned({ topic, partition }, position);
      this.#positions.own({ topic, partition }, position);
      if (position !== undefined) this.#commits.pass({ topic, partition, offset: position });
    }
    this.#holds.assigned(partitions);
    await this.#task.open?.(partitions);
  }

  async #onRevoked(partitions: readonly TopicPartition[], commit: boolean): Promise<void> {
    if (partitions.length === 0) return;
    this.#log.revoked(partitions, !commit);
    try {
      if (commit) await this.#commits.commit(true);
    } finally {
      this.#delivery.lags();
      await this.#task.close?.(partitions);
      for (const partition of partitions) this.#delivery.disown(partition);
      this.#dropFromBatch();
    }
  }

  /** Drops records of partitions that this task no longer owns. Another task writes them. */
  #dropFromBatch(): void {
    this.#polled.keep((key) => this.#positions.delivered.has(key));
    if (this.#polled.isEmpty) this.#puts.progress.put(0, true);
    if (this.#polled.count === 0) this.#holds.remove('retry');
  }

  async #end(failed: boolean): Promise<void> {
    const { chain, errors, logger, offsetFlushTimeoutMs } = this.#runtime;
    const steps = [
      async () => {
        if (!failed) return;
        if (this.#positions.delivered.size > 0) await this.#commits.commitAfterFailure();
        this.#positions.clear();
        await this.#task.close?.(this.#consumer.assignment());
      },
      async () => {
        if (failed || !this.#handsOver) await this.#consumer.close(offsetFlushTimeoutMs);
        else this.handover = await this.#consumer.handOver(offsetFlushTimeoutMs);
      },
      () => this.#task.stop(),
      () => chain.close(),
      () => errors.close(),
    ];
    await runAll(steps, logger);
  }

  #context(): SinkTaskContext {
    return sinkTaskContext(
      this.#runtime,
      { consumer: this.#consumer, polled: this.#polled, delivery: this.#delivery },
      {
        retryAfterMs: (delayMs) => {
          this.#holds.retryDelayMs = delayMs;
        },
        requestCommit: () => {
          this.#commits.request();
          this.#consumer.wakeup();
        },
      },
    );
  }
}
