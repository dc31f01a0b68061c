import { setTimeout as delay } from 'node:timers/promises';
import { ConnectError, RetriableError, toError } from '../../errors.ts';
import { eventLoopWatch } from '../../observe/event-loop-watch.ts';
import type { JsonEncoding, SourceTask, SourceTaskContext, SourceTransactions } from '../api.ts';
import type { OpenOffsets } from './offset-storage.ts';
import { PolledBatch } from './polled-batch.ts';
import { isBlock, isOffsetUpdate, recordsIn, recordsOfBlock, type PolledPart } from './source-block.ts';
import { Readiness } from '../tasks/readiness.ts';
import type { RateLimit } from '../task-assignment.ts';
import { SourceConversion } from './source-conversion.ts';
import { Turn } from '../pipeline/turn.ts';
import type { SourceDelivery } from './source-delivery.ts';
import { SourceProgress } from './source-progress.ts';
import {
  logAfterShutdown,
  runAll,
  taskActivities,
  type TaskActivities,
  type TaskDetails,
  type TaskRunner,
  type TaskRuntime,
} from '../tasks/task-runner.ts';
import type { TopicCreator } from './topic-creator.ts';

const RETRY_DELAY_MS = 100;
/** The longest delay that a timer supports. */
const MAX_HOLD_MS = 2 ** 31 - 1;
const POLL = 'poll() of the task';

/** Creates the delivery. `onFailure` is called when the delivery has failed permanently. */
export type OpenDelivery = (onFailure: () => void) => SourceDelivery;

/**
 * Runs one source task (org.apache.kafka.connect.runtime.AbstractWorkerSourceTask). It polls, transforms, converts and delivers
 * records.
 *
 * States: starting -> running <-> paused; each of them -> stopped or, after a failure, failed.
 */
export class SourceTaskRunner implements TaskRunner {
  readonly #runtime: TaskRuntime;
  readonly #offsets: Pick<OpenOffsets, 'storage' | 'close'>;
  readonly #topics: TopicCreator;
  readonly #task: SourceTask;
  readonly #delivery: SourceDelivery;
  readonly #conversion: SourceConversion;
  readonly #activities: TaskActivities;
  readonly #seenTopics = new Set<string>();
  readonly #progress: SourceProgress;
  readonly #readiness: Readiness;

  #wantPaused: boolean;
  #isPaused = false;
  #wake: (() => void) | undefined;

  /** `offsets` and `topics` are closed when the task ends. */
  constructor(
    runtime: TaskRuntime,
    task: SourceTask,
    openDelivery: OpenDelivery,
    offsets: Pick<OpenOffsets, 'storage' | 'close'>,
    topics: TopicCreator,
  ) {
    this.#runtime = runtime;
    this.#task = task;
    this.#offsets = offsets;
    this.#topics = topics;
    this.#progress = new SourceProgress(runtime.measures.source);
    this.#delivery = openDelivery(() => this.#wake?.());
    this.#conversion = new SourceConversion(runtime, this.#delivery);
    this.#activities = taskActivities(runtime.assignment.id);
    this.#readiness = new Readiness(runtime.assignment.id, runtime.onEvent);
    this.#wantPaused = runtime.assignment.targetState !== 'STARTED';
  }

  pause(): void {
    this.#wantPaused = true;
    this.#wake?.();
  }

  resume(): void {
    this.#wantPaused = false;
    this.#wake?.();
  }

  stop(): void {
    this.#runtime.abort.abort();
    this.#wake?.();
  }

  setRateLimit(limit: RateLimit): void {
    this.#runtime.throttle.set(limit);
    this.#wake?.();
  }

  cancel(): void {
    this.#delivery.cancel();
  }

  details(): TaskDetails {
    const { throttle, chain } = this.#runtime;
    const held = { throttledMs: throttle.heldLatelyMs(), throttledTotalMs: throttle.heldMs() };
    const progress = { ...this.#progress.values(this.#task.waiting?.()), ...held };
    const parts = this.#task.parts?.() ?? [];
    const metrics = this.#task.metrics?.();
    const hints = this.#task.hints?.();
    return { partitions: [], parts, metrics, progress, hints, ...chain.times.details() };
  }

  async run(): Promise<void> {
    const { abort } = this.#runtime;
    let failure: Error | undefined;
    try {
      await this.#delivery.open();
      if (!abort.signal.aborted) await this.#start();
      while (!abort.signal.aborted) await this.#runOnce();
    } catch (error) {
      failure = toError(error);
    }
    await this.#end(failure !== undefined && failure.name !== 'AbortError');
    this.#runtime.place.close();
    failure = this.#delivery.failure ?? failure;
    if (failure === undefined) return;
    if (!abort.signal.aborted) throw failure;
    logAfterShutdown(failure, this.#runtime);
  }

  async #start(): Promise<void> {
    this.#runtime.place.enter('start');
    this.#progress.begin('start');
    await eventLoopWatch.during(this.#activities.start, () =>
      this.#task.start(
        taskContext(this.#runtime, this.#offsets.storage, this.#delivery.transactions, this.#conversion.json),
      ),
    );
    this.#progress.end();
    this.#isPaused = this.#wantPaused;
    this.#reportState();
    this.#delivery.begin();
  }

  async #runOnce(): Promise<void> {
    this.#throwFailure();
    if (this.#wantPaused !== this.#isPaused) {
      this.#isPaused = this.#wantPaused;
      if (this.#isPaused) this.#delivery.pause();
      this.#reportState();
    }
    const { measures, throttle } = this.#runtime;
    if (this.#isPaused) {
      throttle.released();
      await this.#woken();
      return;
    }
    const heldMs = throttle.waitMs();
    if (heldMs > 0) {
      this.#runtime.place.enter('rate limit');
      await this.#woken(Math.min(heldMs, MAX_HOLD_MS));
      return;
    }
    const startedAt = measures.now();
    const polled = await this.#poll();
    this.#throwFailure();
    if (polled.length > 0) await this.#deliver(polled, startedAt);
    this.#readiness.report();
  }

  async #deliver(polled: readonly PolledPart[], startedAt: number): Promise<void> {
    const { measures, throttle, logger } = this.#runtime;
    const count = polled.reduce((sum, part) => sum + recordsIn(part), 0);
    if (count > 0) {
      measures.source.polled(count, startedAt);
      measures.batch(count);
    }
    logger.debug({ records: count, ms: Math.round(measures.now() - startedAt) }, 'Polled records');
    this.#runtime.place.enter(`conversion of ${String(count)} records`);
    this.#progress.begin('conversion');
    const batch = await eventLoopWatch.during(this.#activities.conversion, () => this.#convert(polled));
    this.#progress.end();
    if (throttle.isOn) throttle.taken(count, batch.byteLength);
    await this.#delivery.take(batch);
  }

  /** Resolves after the timeout, or when the runner is woken. */
  async #woken(timeoutMs?: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (timeoutMs !== undefined) timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }

  async #poll(): Promise<readonly PolledPart[]> {
    try {
      this.#runtime.place.enter('poll');
      this.#progress.begin('poll');
      const polled = await eventLoopWatch.during<Promise<readonly PolledPart[]>>(
        this.#activities.poll,
        () => this.#task.pollBlocks?.() ?? this.#task.poll(),
      );
      this.#progress.succeeded(POLL);
      return polled;
    } catch (error) {
      await this.#waitToRetry(error, POLL, 'poll() of the task failed; retrying');
      return [];
    } finally {
      this.#progress.end();
    }
  }

  /** Waits before the next attempt. Rethrows errors that are not retriable. */
  async #waitToRetry(error: unknown, what: string, message: string): Promise<void> {
    if (!(error instanceof RetriableError)) throw error;
    this.#progress.retried(what, error);
    this.#runtime.logger.warn({ err: error }, message);
    await delay(RETRY_DELAY_MS, undefined, { signal: this.#runtime.abort.signal });
  }

  async #convert(polled: readonly PolledPart[]): Promise<PolledBatch> {
    const batch = new PolledBatch();
    const turn = new Turn();
    let topic: string | undefined;
    for (const part of polled) {
      if (isOffsetUpdate(part)) {
        batch.addOffset(part);
        continue;
      }
      if (isBlock(part) && this.#conversion.passes(part)) {
        if (part.packed.topic !== topic) await this.#ensureTopic((topic = part.packed.topic));
        batch.addBlock(part);
        continue;
      }
      for (const source of isBlock(part) ? recordsOfBlock(part) : [part]) {
        const converting = this.#conversion.produced(source);
        const record = converting instanceof Promise ? await converting : converting;
        if (record !== null && record.topic !== topic) await this.#ensureTopic((topic = record.topic));
        batch.add(source, record);
        if (turn.isOver(record?.value?.length ?? 0)) await turn.next();
      }
    }
    return batch;
  }

  /** Creates the topic if necessary. Reports its use with each batch, because the list of active topics may have been reset. */
  async #ensureTopic(topic: string): Promise<void> {
    if (topic === this.#delivery.reservedTopic) {
      throw new ConnectError(
        'Source tasks may not produce to their own offsets topics when exactly-once support is enabled',
      );
    }
    while (!this.#seenTopics.has(topic)) {
      const what = `the creation of topic ${topic}`;
      try {
        await this.#topics.ensure(topic);
        this.#seenTopics.add(topic);
        this.#progress.succeeded(what);
      } catch (error) {
        await this.#waitToRetry(error, what, `Failed to send record to topic '${topic}'. Backing off before retrying`);
      }
    }
    this.#runtime.onEvent({ id: this.#runtime.assignment.id, state: 'TOPIC', topic });
  }

  #throwFailure(): void {
    if (this.#delivery.failure !== undefined) throw this.#delivery.failure;
  }

  #reportState(): void {
    this.#runtime.onEvent({ id: this.#runtime.assignment.id, state: this.#isPaused ? 'PAUSED' : 'RUNNING' });
  }

  async #end(hasFailed: boolean): Promise<void> {
    const { logger, chain, errors } = this.#runtime;
    const steps = [
      () => this.#delivery.finish(hasFailed),
      () => this.#task.stop(),
      () => this.#delivery.close(),
      () => this.#offsets.close(),
      () => this.#topics.close(),
      () => {
        chain.close();
      },
      () => errors.close(),
    ];
    await runAll(steps, logger);
  }
}

function taskContext(
  { assignment, pluginLogger, abort, throttle }: TaskRuntime,
  storage: OpenOffsets['storage'],
  transactions: SourceTransactions | undefined,
  json: JsonEncoding | undefined,
): SourceTaskContext {
  return {
    connectorName: assignment.id.connector,
    taskIndex: assignment.id.task,
    config: assignment.taskConfig,
    logger: pluginLogger,
    signal: abort.signal,
    offset: (partition) => storage.read(assignment.id.connector, partition),
    pollMax: () => throttle.pollMax,
    ...(transactions === undefined ? {} : { transactions }),
    ...(json === undefined ? {} : { json }),
  };
}
