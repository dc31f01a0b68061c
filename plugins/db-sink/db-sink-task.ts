import {
  ConfigError,
  parseOptions,
  RetriableError,
  topicPartitionKey,
  Turn,
  type PartitionOffset,
  type SinkRecord,
  type SinkRecordBlock,
  type SinkTask,
  type SinkTaskContext,
  type TopicPartition,
  type WaitingInTask,
  type WrittenRows,
} from '../../src/index.ts';
import {
  connectionSettings,
  beginWithAttempts,
  countCollapsed,
  databaseText,
  openNamedExecutor,
  probeHints,
  WaitCause,
  type Executor,
} from '../database/index.ts';
import { BatchRows } from './batch-rows.ts';
import { createSinkDecoder, refusedByEngine } from './decoders.ts';
import { isExactlyOnce } from './delivery-options.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { ExactlyOnce, offsetsOf, prepareOffsets } from './delivery.ts';
import { sinkOptions } from './options.ts';
import { attemptWith, type Refuse } from './ordered-writes.ts';
import type { RecordDecoder } from './record-decoder.ts';
import { unavailableText, Retries } from './retries.ts';
import { refusedByServer } from './server-refusals.ts';
import { SinkLog } from './sink-log.ts';
import { databaseName, retryOptions, writerOptions } from './sink-settings.ts';
import { TableWriter } from './table-writer.ts';
import { messageBytes } from './waiting-records.ts';
import { WriteLane, type BatchWrites, type LaneListener } from './write-lane.ts';
import { WrittenTables } from './written-tables.ts';

/** Two concurrent writes keep the database busy while this process decodes. They reach 1.7 times the rate of one. */
const LANES = 2;
export const CONNECTIONS = LANES + 1;

/** Minimum time between commit requests of `put`. Offsets are committed at least every `offset.flush.interval.ms` (default 60 s). */
const COMMIT_EVERY_MS = 1000;
/**
 * Maximum wait of `put` for room in the lanes. After it, `put` throws RetriableError, so that polling continues within max.poll.interval.ms.
 */
const MAX_WAIT_IN_PUT_MS = 2_000;
const PUT_AGAIN_AFTER_MS = 500;
/** Time limit for storing pending records before partitions are revoked. The next owner reads unstored records again. */
const REBALANCE_FLUSH_TIMEOUT_MS = 5_000;
/**
 * Time limit for storing pending records when the task stops. It is less than task.shutdown.graceful.timeout.ms, which
 * is 5 s by default.
 */
const STOP_FLUSH_TIMEOUT_MS = 3_500;

/** Writes the messages of its partitions to tables through lanes, each of which preserves the order. */
export class DbSinkTask implements SinkTask {
  #executor: Executor | undefined;
  #lanes: readonly WriteLane[] = [];
  readonly #laneOf = new Map<string, WriteLane>();
  readonly #written = new WrittenTables();
  #nextLane = 0;
  #context: SinkTaskContext | undefined;
  #log: SinkLog | undefined;
  #retries: Retries | undefined;
  /** Set while the start waits for an unreachable database: since when, and why. */
  #starting: { readonly since: number; readonly cause: string } | undefined;
  #database = '';
  #waitCause: WaitCause | undefined;
  #exactlyOnce: ExactlyOnce | undefined;
  #requestCommit: (() => void) | undefined;
  #committedAt = 0;

  async start(context: SinkTaskContext): Promise<void> {
    const options = parseOptions(sinkOptions, context.config);
    const settings = connectionSettings(options);
    this.#database = databaseText(settings);
    const executor = openNamedExecutor(settings, context, CONNECTIONS);
    this.#executor = executor;
    this.#context = context;
    const log = new SinkLog(context.logger);
    this.#log = log;
    context.retryAfterMs(PUT_AGAIN_AFTER_MS);
    const attempts = options['connection.attempts'];
    const backoffMs = options['connection.backoff.ms'];
    context.logger.info(
      `Writing ${options['protocol.type']} messages; max.retries=${String(options['max.retries'])}, retry.backoff.ms=${String(options['retry.backoff.ms'])}, connection.attempts=${String(attempts)}, connection.backoff.ms=${String(backoffMs)}`,
    );
    const policy = {
      attempts,
      backoffMs,
      signal: context.signal,
      onFailure: (error: unknown, attempt: number): void => {
        const cause = unavailableText(error, `attempt ${String(attempt)} of ${String(attempts)}`);
        const isFirst = this.#starting === undefined && context.taskIndex === 0;
        this.#starting = { since: this.#starting?.since ?? performance.now(), cause };
        if (isFirst) context.logger.warn(`The task cannot start yet: ${this.#database} ${cause}`);
      },
    };
    const { engine, database, refusals } = await beginWithAttempts(executor, policy, async () => {
      await executor.probe({ writes: true });
      const found = await executor.engine();
      const refused = [...(await refusedByServer(options, executor)), ...refusedByEngine(options, found)];
      return { engine: found, database: await databaseName(executor), refusals: refused };
    });
    const wantsExactlyOnce = isExactlyOnce(options);
    const [refused] = refusals;
    if (refused !== undefined) throw new ConfigError(`Invalid value for configuration ${refused[0]}: ${refused[1]}`);
    const retries = new Retries(executor, retryOptions(options), context);
    this.#retries = retries;
    const onCollapsed = (rows: number): void => {
      countCollapsed({ connector: context.connectorName }, rows);
    };
    const tableOptions = { ...writerOptions(options, { database, engine }), onCollapsed };
    const writer = new TableWriter(executor, tableOptions, retries, context.logger);
    const dropWrites = async (): Promise<void> => {
      await Promise.all(this.#lanes.map((lane) => lane.drop()));
    };
    const offsets = offsetsOf(executor, options, context.config, context.connectorName);
    await beginWithAttempts(executor, policy, () => prepareOffsets(offsets, wantsExactlyOnce, context.logger));
    const exactlyOnce = wantsExactlyOnce ? new ExactlyOnce(offsets, context, writer, retries, dropWrites) : undefined;
    this.#exactlyOnce = exactlyOnce;
    this.#starting = undefined;
    const createDecoder = (): RecordDecoder =>
      createSinkDecoder(options, { engine, database, derivesPrimaryTag: (table) => writer.derivesPrimaryTag(table) });
    const requestCommit = (): void => {
      context.requestCommit();
    };
    // With delivery=exactly-once, the offsets in the database are authoritative, so `put` requests no commits.
    this.#requestCommit = exactlyOnce === undefined ? requestCommit : undefined;
    const { errantRecords } = context;
    const writes = batchWrites(writer, exactlyOnce?.store, errantRecords.tolerant);
    const refuse: Refuse = (record, error) => errantRecords.report(record, error);
    const listener: LaneListener = {
      onFailure: requestCommit,
      onFenced: (error) => exactlyOnce?.claims.fenced(error),
      onTablesChanged: requestCommit,
      onWriting: (batch) => {
        log.writing(batch);
      },
      onWritten: (batch, ms) => {
        this.#written.record(batch.decoded, ms);
        log.written(batch, ms);
      },
    };
    const createBatchRows = (): BatchRows => new BatchRows(options['batch.size'], options['batch.size.auto']);
    this.#lanes = Array.from(
      { length: LANES },
      () => new WriteLane(createDecoder, writes, refuse, createBatchRows(), listener),
    );
  }

  async open(partitions: readonly TopicPartition[]): Promise<void> {
    for (const { topic, partition } of partitions) {
      const lane = this.#lanes[this.#nextLane++ % this.#lanes.length];
      if (lane !== undefined) this.#laneOf.set(topicPartitionKey(topic, partition), lane);
    }
    await this.#exactlyOnce?.claims.open(partitions);
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    for (const lane of this.#lanes) lane.check();
    this.#log?.put(records);
    if (records.length > 0) this.#commitSoon();
    await this.#exactlyOnce?.claims.ready();
    if (records.length > 0) await this.#waitForRoom(this.#lanes);
    let topic: string | undefined;
    let partition = -1;
    let lane: WriteLane | undefined;
    const hasMore = new Map<WriteLane, boolean>();
    if (records.length === 0) for (const each of this.#lanes) hasMore.set(each, false);
    const turn = new Turn();
    for (const record of records) {
      const { consumed } = record;
      if (consumed.partition !== partition || consumed.topic !== topic) {
        ({ topic, partition } = consumed);
        lane = this.#laneOf.get(topicPartitionKey(topic, partition));
        if (lane !== undefined) hasMore.set(lane, hasMore.get(lane) === true || this.#hasMore({ topic, partition }));
      }
      lane?.add(record);
      if (turn.isOver(messageBytes(record))) await turn.next();
    }
    for (const [each, more] of hasMore) each.start(more);
  }

  async putBlock(block: SinkRecordBlock): Promise<void> {
    this.#commitSoon();
    const { topic, partition, offsets } = block.messages;
    this.#log?.putBlock({ topic, partition }, offsets);
    const lane = this.#laneOf.get(topicPartitionKey(topic, partition));
    if (lane === undefined) return;
    lane.check();
    await this.#exactlyOnce?.claims.ready();
    await this.#waitForRoom([lane]);
    await lane.addBlock(block);
    lane.start(this.#hasMore({ topic, partition }));
  }

  #hasMore(partition: TopicPartition): boolean {
    return this.#context?.hasMore(partition) ?? false;
  }

  /** Requests a commit, at most once per second, so that another worker writes few rows again if this one dies. */
  #commitSoon(): void {
    const now = Date.now();
    if (now - this.#committedAt < COMMIT_EVERY_MS) return;
    this.#committedAt = now;
    this.#requestCommit?.();
  }

  /**
   * Waits until the lanes accept more records. A slow or unavailable database must not keep the consumer from polling,
   * so the wait is limited: RetriableError makes the worker redeliver the records.
   */
  async #waitForRoom(lanes: readonly WriteLane[]): Promise<void> {
    const rooms = await Promise.all(lanes.map((lane) => lane.hasRoom(MAX_WAIT_IN_PUT_MS)));
    if (rooms.every((hasRoom) => hasRoom)) return;
    throw new RetriableError(`The database has not accepted a batch for ${String(MAX_WAIT_IN_PUT_MS)} ms`);
  }

  async preCommit(delivered: ReadonlyMap<string, PartitionOffset>, flush: boolean): Promise<PartitionOffset[]> {
    if (flush) {
      await Promise.all(this.#lanes.map((lane) => lane.flush(this.#flushTimeoutMs())));
    }
    const stored = this.stored(delivered);
    await this.#exactlyOnce?.moveIdle(
      stored.filter((end) => delivered.get(topicPartitionKey(end.topic, end.partition)) === end),
    );
    this.#log?.committing(stored, flush);
    return stored;
  }

  stored(delivered: ReadonlyMap<string, PartitionOffset>): PartitionOffset[] {
    return [...delivered].map(([key, end]) => {
      const offset = this.#laneOf.get(key)?.firstUnstored(key) ?? end.offset;
      return offset < end.offset ? { ...end, offset } : end;
    });
  }

  waiting(): WaitingInTask | undefined {
    const starting = this.#starting;
    if (starting !== undefined) {
      return { records: 0, waitedMs: performance.now() - starting.since, cause: `${this.#database} ${starting.cause}` };
    }
    const lanes = this.#lanes.map((lane) => lane.unstored());
    const records = lanes.reduce((sum, lane) => sum + lane.records, 0);
    const waitedMs = Math.max(0, ...lanes.map((lane) => lane.waitedMs));
    if (this.#executor === undefined || this.#context === undefined || waitedMs === 0) return undefined;
    this.#waitCause ??= new WaitCause(this.#executor, this.#context.signal);
    const cause = this.#retries?.unavailableCause;
    if (cause !== undefined) return { records, waitedMs, cause: `${this.#database} ${cause}` };
    const tables = (): readonly string[] => this.#lanes.flatMap((lane) => lane.tablesInFlight());
    return { records, waitedMs, cause: this.#waitCause.of(waitedMs, 'the write', tables) };
  }

  hints(): readonly string[] {
    const server = this.#executor?.behaviour;
    return server === undefined ? [] : probeHints(server);
  }

  written(): WrittenRows {
    return this.#written.figures();
  }

  #flushTimeoutMs(): number {
    if (this.#retries?.isUnavailable === true) return 0;
    return this.#context?.signal.aborted === true ? STOP_FLUSH_TIMEOUT_MS : REBALANCE_FLUSH_TIMEOUT_MS;
  }

  /**
   * Stops writing records of revoked partitions. A batch contains records of several partitions, so all pending records
   * are dropped; those of the remaining partitions are read again.
   */
  async close(partitions: readonly TopicPartition[]): Promise<void> {
    for (const { topic, partition } of partitions) this.#laneOf.delete(topicPartitionKey(topic, partition));
    const context = this.#context;
    const positions = (context?.assignment() ?? []).flatMap(({ topic, partition }) => {
      const key = topicPartitionKey(topic, partition);
      const offset = this.#laneOf.get(key)?.firstUnstored(key);
      return offset === undefined ? [] : [{ topic, partition, offset }];
    });
    await Promise.all(this.#lanes.map((lane) => lane.drop()));
    this.#log?.dropped(partitions, positions);
    if (this.#exactlyOnce !== undefined) await this.#exactlyOnce.claims.close(partitions);
    else if (positions.length > 0) context?.seek(positions.map((offset) => context.identified(offset)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drop()));
    await this.#executor?.close();
    this.#executor = undefined;
  }
}

/** `store` is set for exactly-once delivery; `tolerant` means that refused records do not fail the task. */
function batchWrites(writer: TableWriter, store: DeliveryStore | undefined, tolerant: boolean): BatchWrites {
  if (!tolerant) return { kind: 'ordered', attempt: store?.storeAtomically ?? attemptWith(writer) };
  if (store !== undefined) return { kind: 'whole', store: (batch, signal) => store.store(batch, signal) };
  return { kind: 'parts', write: (part, signal) => writer.write(part, signal) };
}
