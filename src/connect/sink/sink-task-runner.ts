import { topicPartitionKey, type TopicPartition } from '../../data/record.ts';
import { ConnectError, RetriableError, toError } from '../../errors.ts';
import type { RecordBlock, Handover, PartitionPosition, TopicPredicate } from '../../kafka/api.ts';
import { eventLoopWatch } from '../../observe/event-loop-watch.ts';
import type { PartitionOffset, SinkTask, SinkTaskContext } from '../api.ts';
import { commitAfterFailure } from './commit-after-failure.ts';
import { ConsumerHolds, valueBytes } from './consumer-holds.ts';
import { OffsetCommits } from './offset-commits.ts';
import type { PolledRecords } from './polled-records.ts';
import { DeliveredOffsets } from './delivered-offsets.ts';
import { SinkProgress } from './sink-progress.ts';
import { SinkPositions } from './sink-positions.ts';
import { SinkTaskLog } from './sink-task-log.ts';
import { sinkTaskContext, type SinkConsumer } from './sink-task-context.ts';
import { taskRecords } from './task-records.ts';
import { Readiness } from '../tasks/readiness.ts';
import type { RateLimit, TaskCare } from '../task-assignment.ts';
import {
  logAfterShutdown,
  runAll,
  taskActivities,
  untilMayWork,
  waitedFor,
  type TaskActivities,
  type TaskDetails,
  type TaskRunner,
  type TaskRuntime,
} from '../tasks/task-runner.ts';

const DEFAULT_RETRY_DELAY_MS = 3000;

/**
 * Runs one sink task over one consumer (org.apache.kafka.connect.runtime.WorkerSinkTask): commit when due, poll, convert,
 * put. Everything happens in one loop, so calls into the task never overlap.
 *
 * States: starting -> running <-> paused -> stopped; any failure -> failed. While a batch is being retried all partitions
 * are paused and polling continues without returning records.
 */
export class SinkTaskRunner implements TaskRunner {
  readonly #runtime: TaskRuntime;
  readonly #task: SinkTask;
  readonly #consumer: SinkConsumer;
  readonly #topics: readonly string[] | TopicPredicate;
  readonly #polled: PolledRecords;
  readonly #activities: TaskActivities;
  readonly #log: SinkTaskLog;
  readonly #positions = new SinkPositions();
  readonly #delivery: DeliveredOffsets;
  readonly #progress: SinkProgress;
  #retryAtMs = 0;
  #retryDelayMs = DEFAULT_RETRY_DELAY_MS;
  readonly #holds: ConsumerHolds;
  #wantPaused: boolean;
  #commitRequested = false;
  #nextCommitMs: number;
  readonly #commits: OffsetCommits;
  readonly #readiness: Readiness;
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
    this.#progress = new SinkProgress(runtime.throttle);
    this.#activities = taskActivities(runtime.assignment.id);
    this.#readiness = new Readiness(runtime.assignment.id, runtime.onEvent);
    this.#holds = new ConsumerHolds(consumer, runtime.throttle);
    this.#commits = new OffsetCommits(consumer, runtime, (positions, ms) => {
      this.#onCommitted(positions, ms);
    });
    this.#wantPaused = runtime.assignment.targetState !== 'STARTED';
    this.#nextCommitMs = Date.now() + runtime.offsetFlushIntervalMs;
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
      progress: this.#progress.values(this.#polled.count, this.#task.waiting?.()),
      reading: { ...this.#holds.reading(), ...this.#runtime.measures.sink.progress() },
    };
  }

  async run(): Promise<void> {
    const { assignment, onEvent, place } = this.#runtime;
    let failure: Error | undefined;
    try {
      place.enter('start');
      this.#progress.begin('start');
      await eventLoopWatch.during(this.#activities.start, () => this.#task.start(this.#context()));
      this.#progress.rest();
      const listener = {
        onAssigned: (partitions: readonly TopicPartition[]) => this.#onAssigned(partitions),
        onRevoked: (partitions: readonly TopicPartition[]) => this.#onRevoked(partitions, true),
        onLost: (partitions: readonly TopicPartition[]) => this.#onRevoked(partitions, false),
      };
      this.#consumer.subscribe(this.#topics, listener, assignment.handover);
      if (this.#wantPaused) this.#holds.add('request');
      onEvent({ id: assignment.id, state: this.#wantPaused ? 'PAUSED' : 'RUNNING' });
      while (!this.#runtime.abort.signal.aborted) await this.#turn();
    } catch (error) {
      failure = toError(error);
    }
    await this.#end(failure !== undefined && failure.name !== 'AbortError');
    place.close();
    if (failure === undefined) return;
    if (!this.#runtime.abort.signal.aborted) throw failure;
    logAfterShutdown(failure, this.#runtime);
  }

  async #turn(): Promise<void> {
    if (!(await this.#mayWork())) return;
    this.#applyPause();
    const now = Date.now();
    if (this.#commitRequested)
      this.#nextCommitMs = Math.min(this.#nextCommitMs, Math.max(now, this.#commits.retryAtMs));
    this.#commitRequested = false;
    if (now >= this.#nextCommitMs) {
      this.#nextCommitMs = now + this.#runtime.offsetFlushIntervalMs;
      await this.#commit(false);
    }
    const wakeAtMs = Math.min(this.#holds.untilMs(this.#retryAtMs), this.#nextCommitMs);
    const waitMs = Math.min(Math.max(0, wakeAtMs - Date.now()), this.#readiness.pollMs);
    const consumed = await this.#consumer.pollBlocks(waitMs, this.#holds.pollMax);
    if (this.#runtime.abort.signal.aborted) return;
    if (!this.#pausedForRetry) await this.#take(consumed);
    if (!(await this.#mayWork())) return;
    if (!this.#pausedForRetry || Date.now() >= this.#retryAtMs) await this.#putAll();
    if (this.#consumer.isInGroup && !this.#pausedForRetry) this.#readiness.report();
  }

  get #pausedForRetry(): boolean {
    return this.#holds.has('retry');
  }

  /** In one call, except for records in care: these are stored and committed before others are put, after a poll if a commit failed. */
  async #putAll(): Promise<void> {
    do {
      const { isCareful } = this.#polled;
      await this.#put();
      if (isCareful && !this.#pausedForRetry && !(await this.#commit(true))) this.#pauseUntil(this.#commits.retryAtMs);
    } while (!this.#polled.isEmpty && !this.#pausedForRetry && (await this.#mayWork()));
  }

  /** Costs next to nothing as long as it may; `false` when the task is to end. */
  async #mayWork(): Promise<boolean> {
    return this.#runtime.mayWork() || untilMayWork(this.#runtime);
  }

  async #take(consumed: readonly RecordBlock[]): Promise<void> {
    this.#delivery.polled(consumed);
    this.#log.polled(consumed);
    if (consumed.length > 0) {
      this.#runtime.place.enter('conversion', this.#positions.unsettled());
      this.#progress.begin('conversion');
    }
    await eventLoopWatch.during(this.#activities.conversion, () => this.#polled.take(consumed));
    const { measures, onEvent, throttle } = this.#runtime;
    const count = consumed.reduce((sum, block) => sum + block.count, 0);
    if (count > 0) measures.sink.read(count);
    if (throttle.isOn) throttle.taken(count, valueBytes(consumed));
    const { id } = this.#runtime.assignment;
    for (const { topic } of consumed) if (this.#polled.waitsFor(topic)) onEvent({ id, state: 'TOPIC', topic });
  }

  async #put(): Promise<void> {
    const { measures } = this.#runtime;
    const startedAt = measures.now();
    let put = 0;
    if (this.#polled.count > 0) {
      this.#progress.begin('put');
      this.#enterPut();
    }
    try {
      await eventLoopWatch.during(this.#activities.put, () =>
        this.#polled.put((end, count) => {
          put += count;
          const key = topicPartitionKey(end.topic, end.partition);
          if (this.#positions.delivered.has(key)) this.#positions.deliver(key, end);
        }),
      );
    } catch (error) {
      if (!(error instanceof RetriableError) || this.#runtime.abort.signal.aborted) throw this.#unrecoverable(error);
      this.#waitForRetry(error);
      return;
    }
    // All in front of the record that could not be converted is put.
    if (this.#polled.isEmpty && this.#polled.failure !== undefined) throw this.#polled.failure;
    const ms = measures.now() - startedAt;
    this.#log.put(put, ms);
    this.#progress.put(put, this.#polled.isEmpty, ms);
    measures.batch(put);
    measures.sink.put(put, startedAt);
    measures.sink.active(this.#positions.active);
    this.#holds.remove('retry');
  }

  #enterPut(): void {
    const { count, ranges } = this.#polled.next();
    // All before a step is stored.
    this.#runtime.place.enter(
      `put of ${String(count)} record${count === 1 ? '' : 's'}`,
      this.#polled.isCareful ? ranges : [...this.#positions.unsettled(), ...ranges],
    );
  }

  /** Errors of the plugin get Connect's first line; failures of converters and clients have their own. */
  #unrecoverable(cause: unknown): Error {
    if (this.#runtime.abort.signal.aborted) return toError(cause);
    return new ConnectError('Exiting WorkerSinkTask due to unrecoverable exception.', { cause });
  }

  #waitForRetry(error: Error): void {
    this.#runtime.logger.warn(
      { err: error },
      `The task asked for its ${String(this.#polled.count)} records again in ${String(this.#retryDelayMs)} ms`,
    );
    this.#pauseUntil(Date.now() + this.#retryDelayMs);
    this.#progress.retried(error, this.#retryAtMs);
  }

  #pauseUntil(retryAtMs: number): void {
    this.#retryAtMs = retryAtMs;
    this.#holds.add('retry');
  }

  #applyPause(): void {
    if (this.#wantPaused === this.#holds.has('request')) return;
    if (this.#wantPaused) {
      this.#holds.add('request');
      this.#commitRequested = true;
    } else {
      this.#holds.remove('request');
    }
    this.#runtime.onEvent({ id: this.#runtime.assignment.id, state: this.#wantPaused ? 'PAUSED' : 'RUNNING' });
  }

  /** Commits what the task calls safe. Without `wait` one commit is in flight at most; with it, the result is whether all is committed. */
  async #commit(wait: boolean): Promise<boolean> {
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

  #onCommitted(positions: readonly PartitionPosition[], ms: number): void {
    this.#log.committed(positions, ms);
    for (const position of positions) {
      this.#positions.commit(position);
      this.#pass(position);
    }
    this.#runtime.measures.sink.active(this.#positions.active);
  }

  #pass(passed: PartitionOffset): void {
    const { id } = this.#runtime.assignment;
    if (this.#polled.care.pass(passed)) this.#runtime.onEvent({ id, state: 'PASSED', passed });
  }

  async #preCommit(flush: boolean): Promise<readonly PartitionOffset[]> {
    try {
      const ask = () => this.#task.preCommit(this.#positions.delivered, flush);
      return this.#delivery.confirmed(await eventLoopWatch.during(this.#activities.preCommit, ask));
    } catch (error) {
      throw this.#unrecoverable(error);
    }
  }

  #isCommittable({ topic, partition, offset }: PartitionPosition): boolean {
    const key = topicPartitionKey(topic, partition);
    const delivered = this.#positions.delivered.get(key);
    if (delivered === undefined || offset > delivered.offset) {
      this.#runtime.logger.warn(
        `Ignoring the offset ${String(offset)} for ${topic}-${String(partition)}: it was not delivered to this task`,
      );
      return false;
    }
    return this.#positions.committed(key) !== offset;
  }

  async #onAssigned(partitions: readonly TopicPartition[]): Promise<void> {
    for (const { topic, partition } of partitions) {
      const position = this.#consumer.position({ topic, partition });
      this.#log.assigned({ topic, partition }, position);
      this.#positions.own({ topic, partition }, position);
      if (position !== undefined) this.#pass({ topic, partition, offset: position });
    }
    this.#holds.assigned(partitions);
    await this.#task.open?.(partitions);
  }

  async #onRevoked(partitions: readonly TopicPartition[], commit: boolean): Promise<void> {
    if (partitions.length === 0) return;
    this.#log.revoked(partitions, !commit);
    try {
      if (commit) await this.#commit(true);
    } finally {
      this.#delivery.lags();
      await this.#task.close?.(partitions);
      for (const partition of partitions) this.#delivery.disown(partition);
      this.#dropFromBatch();
    }
  }

  /** Another task writes the records of partitions that this task no longer owns. */
  #dropFromBatch(): void {
    this.#polled.keep((key) => this.#positions.delivered.has(key));
    if (this.#polled.isEmpty) this.#progress.put(0, true);
    if (this.#polled.count === 0) this.#holds.remove('retry');
  }

  async #end(failed: boolean): Promise<void> {
    const { chain, errors, logger, offsetFlushTimeoutMs } = this.#runtime;
    const steps = [
      async () => {
        if (!failed) return;
        if (this.#positions.delivered.size > 0) await commitAfterFailure(this.#commit(true), logger);
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
          this.#retryDelayMs = delayMs;
        },
        requestCommit: () => {
          this.#commitRequested = true;
          this.#consumer.wakeup();
        },
      },
    );
  }
}
