import { setTimeout as delay } from 'node:timers/promises';
import {
  recordsOfBlock,
  RetriableError,
  type OffsetUpdate,
  type PolledRecord,
  type SourceBlock,
  type SourceTask,
  type SourceTaskContext,
  type TaskMetric,
  type TaskPart,
} from '../../src/index.ts';
import { DatabaseError, openExecutor, withSessionName } from '../database/index.ts';
import type { ListedTable } from './catalogue.ts';
import { ChangeRecords } from './change-records.ts';
import { Confirmations } from './confirmations.ts';
import { findGap, readsAgain, type StreamSource } from './continuity.ts';
import { Heartbeat } from './heartbeat.ts';
import { readChanges, recordBlocks, type PolledPart } from './poll-batch.ts';
import { LogMetrics } from './log-metrics.ts';
import { lsnText } from './lsn.ts';
import { connectToLog, openStream, type OpenStream, type StreamParts } from './open-stream.ts';
import { connectPool } from './pooler.ts';
import { reachedBy, storedPosition, toOffset, wholeBefore, type LogPosition, type StoredPosition } from './position.ts';
import {
  capturedTables,
  ensurePublication,
  readServer,
  readSlot,
  setReplicaIdentities,
  type SlotState,
} from './preparation.ts';
import type { LogDoor } from './record-form.ts';
import type { SnapshotSignal } from './signals.ts';
import { createSlot, dropSlot } from './slot.ts';
import { SnapshotRun } from './snapshot-run.ts';
import { WalGuard } from './wal-guard.ts';

export const CONNECTIONS = 2;
/** A poll waits at most this many milliseconds, so that the worker can pause the task. */
const MAX_WAIT_MS = 1_000;
/** SQLSTATE that the server reports while another process reads the slot. */
const SLOT_IN_USE = '55006';

interface Parts extends StreamParts {
  readonly context: SourceTaskContext;
  readonly heartbeat: Heartbeat;
  readonly guard: WalGuard;
}

/**
 * `io.debezium.connector.postgresql.PostgresConnectorTask`, and the task of the polling source with `read.method=log`:
 * sends the changes of a database in the order of their commits.
 *
 * States: snapshot -> streaming -> stopped. If a stream breaks, the next poll opens it again, after the last message that was sent.
 * With `snapshot.mode=initial_only` the task is idle after the snapshot.
 */
export class LogSourceTask implements SourceTask {
  readonly #door: LogDoor;
  #started: Parts | undefined;
  #snapshot: SnapshotRun | undefined;
  #open: OpenStream | undefined;
  /** Position of the last change that a poll returned; `undefined`: no change yet. */
  #sent: LogPosition | undefined;
  /** The LSN at which the stream starts if nothing was sent yet. */
  #startLsn = 0n;
  #isStreaming = true;
  #confirmations = new Confirmations();
  /** Offsets without a record: the LSN in the last one, and the earliest time of the next one (`performance.now()`). */
  #idleOffset = { whole: 0n, dueAt: 0 };

  constructor(door: LogDoor) {
    this.#door = door;
  }

  async start(context: SourceTaskContext): Promise<void> {
    const given = this.#door.settings(context.config);
    const connection = withSessionName(given.connection, context.connectorName, context.taskIndex);
    const settings = { ...given, connection };
    const executor = openExecutor(connection, { logger: context.logger, poolSize: CONNECTIONS });
    const records = new ChangeRecords(settings, context.taskIndex, this.#door.form(settings, context));
    const { signal, logger } = context;
    const heartbeat = new Heartbeat({ executor, settings, records, logger });
    const guard = new WalGuard({ executor, settings, logger });
    this.#started = { context, settings, executor, records, heartbeat, metrics: new LogMetrics(settings), guard };
    await connectPool(executor, settings, signal);
    await readServer(executor);
    await records.prepare(executor);
    const tables = await capturedTables(executor, settings);
    await setReplicaIdentities(executor, settings, tables);
    await ensurePublication(executor, settings, tables, logger);
    const stored = await storedPosition(context, settings.prefix);
    this.#isStreaming = settings.snapshot.mode !== 'initial_only';
    const link = await connectToLog(this.#parts);
    try {
      if (await this.#needsSnapshot(stored, link)) {
        await this.#beginSnapshot(tables, link.slot);
        return;
      }
      const begin = link.slot?.confirmed ?? (await createSlot(link.connection, settings));
      this.#sent = stored?.position;
      this.#startLsn = stored === undefined ? begin : reachedBy(stored);
    } finally {
      link.connection.close();
      guard.start();
    }
  }

  async poll(): Promise<readonly PolledRecord[]> {
    const parts = await this.pollBlocks();
    return parts.flatMap((part) => ('packed' in part ? recordsOfBlock(part) : [part]));
  }

  async pollBlocks(): Promise<readonly PolledPart[]> {
    await this.#obeyGuard();
    if (this.#snapshot !== undefined) {
      const records = await this.#snapshot.next();
      if (records !== undefined) return records;
      this.#snapshot = undefined;
    }
    if (!this.#isStreaming) {
      await this.#pause();
      return [];
    }
    try {
      return await this.#pollLog();
    } catch (error) {
      this.#closeStream();
      if (this.#parts.context.signal.aborted) return [];
      if (error instanceof DatabaseError && error.scope === 'infrastructure') {
        throw new RetriableError(`The log cannot be read: ${error.message}`, { cause: error });
      }
      throw error;
    }
  }

  async commit(): Promise<void> {
    const confirmed = this.#confirmations.commit();
    if (confirmed !== undefined) this.#open?.stream.confirm(confirmed);
    return Promise.resolve();
  }

  commitRecord(record: PolledRecord): void {
    this.#confirmations.acknowledged(record);
  }

  commitBlock(block: SourceBlock): void {
    this.#confirmations.acknowledged(block);
  }

  parts(): readonly TaskPart[] {
    return this.#started === undefined ? [] : [this.#started.guard.part()];
  }

  metrics(): readonly TaskMetric[] {
    if (this.#started === undefined) return [];
    const { metrics, guard } = this.#started;
    return [...metrics.values(this.#open?.stream), ...guard.metrics()];
  }

  async stop(): Promise<void> {
    const parts = this.#started;
    this.#started = undefined;
    this.#closeStream();
    await this.#snapshot?.stop();
    if (parts === undefined) return;
    parts.guard.stop();
    if (parts.settings.slot.dropOnStop) await dropSlot(parts.settings, parts.context.logger);
    await parts.executor.close();
  }

  /** @throws ConnectError if the server keeps too much of its log and the task must end */
  async #obeyGuard(): Promise<void> {
    const { guard, settings, context } = this.#parts;
    if (guard.failure === undefined) return;
    this.#closeStream();
    if (settings.guard.action === 'drop-slot') await dropSlot(settings, context.logger);
    throw guard.failure;
  }

  /** @throws ConnectError if changes are missing and the settings do not allow a snapshot */
  async #needsSnapshot(stored: StoredPosition | undefined, source: StreamSource): Promise<boolean> {
    const { settings } = this.#parts;
    const { mode } = settings.snapshot;
    if (mode === 'always') return true;
    if (mode !== 'no_data' && stored?.isSnapshotOpen !== false) return true;
    return stored !== undefined && this.#isStreaming && this.#readsAgain(stored, source);
  }

  async #readsAgain(stored: StoredPosition, source: StreamSource): Promise<boolean> {
    const { settings, context } = this.#parts;
    const gap = await findGap(stored, source, settings.slot.name);
    const isAgain = readsAgain(gap, settings);
    if (isAgain) context.logger.warn(`${gap ?? ''}. All tables are read again`);
    return isAgain;
  }

  async #beginSnapshot(tables: readonly ListedTable[], slot: SlotState | undefined): Promise<void> {
    const { settings, context } = this.#parts;
    const chosen = tables.filter((table) => settings.snapshot.includes(table));
    this.#snapshot = await SnapshotRun.begin(chosen, slot, this.#parts);
    const { lsn } = this.#snapshot;
    context.logger.info(`Snapshot of ${String(chosen.length)} tables begins at ${lsnText(lsn)}`);
    this.#sent = undefined;
    this.#confirmations = new Confirmations();
    this.#idleOffset = { whole: 0n, dueAt: 0 };
    this.#startLsn = lsn;
  }

  /** Begins a snapshot. The stream is not read until the snapshot has ended. */
  async #beginRequestedSnapshot({ includes }: SnapshotSignal): Promise<void> {
    const { settings, executor, context } = this.#parts;
    const tables = (await capturedTables(executor, settings)).filter((table) => includes(table));
    const slot = await readSlot(executor, settings);
    const offset = this.#sent === undefined ? undefined : toOffset(this.#sent);
    context.logger.info(`Snapshot of ${String(tables.length)} tables begins, because a signal requested it`);
    this.#snapshot = await SnapshotRun.begin(tables, slot, this.#parts, offset);
  }

  async #pollLog(): Promise<readonly PolledPart[]> {
    const { settings, context, heartbeat, records } = this.#parts;
    if (this.#open === undefined) {
      // The heartbeat statement commits a transaction before the first change in the stream, so that this change has a
      // `lastCommit`.
      await heartbeat.runStatement();
      this.#open = await this.#openStream();
      if (this.#open === undefined) return [];
      this.#idleOffset.dueAt = performance.now() + settings.slot.statusIntervalMs;
    }
    const { stream, reader } = this.#open;
    const most = Math.min(settings.queue.batchSize, context.pollMax?.() ?? Infinity);
    await stream.arrival(Math.min(MAX_WAIT_MS, settings.queue.pollMs), context.signal);
    const batch = await readChanges(this.#open, most, recordBlocks(records, context.json));
    batch.add(await heartbeat.beat(reader.position), wholeBefore(reader.position));
    batch.add(this.#offsetAlone(this.#open, batch.size > 0), wholeBefore(reader.position));
    // The position is set only here, after all records were made. If that fails, the next poll reads the stream again
    // from the previous position.
    this.#sent = reader.position;
    batch.register(this.#confirmations);
    const signal = reader.takeSignal();
    if (signal !== undefined) await this.#beginRequestedSnapshot(signal);
    return batch.parts;
  }

  /**
   * Returns an offset without a record if the captured tables have not changed for a while, so that the server can remove its log.
   * Otherwise, only records have offsets, as in Debezium.
   */
  #offsetAlone({ stream, reader }: OpenStream, hasRecords: boolean): readonly OffsetUpdate[] {
    const { settings, records } = this.#parts;
    const now = performance.now();
    const isDue = !hasRecords && now >= this.#idleOffset.dueAt;
    if (hasRecords || isDue) this.#idleOffset.dueAt = now + settings.slot.statusIntervalMs;
    if (!isDue) return [];
    reader.advance(stream.takenUpTo);
    const whole = wholeBefore(reader.position) ?? 0n;
    if (whole <= this.#idleOffset.whole) return [];
    this.#idleOffset.whole = whole;
    return [{ sourcePartition: records.partition, sourceOffset: toOffset(reader.position) }];
  }

  /** Opens the stream. If changes are missing, begins a snapshot instead and returns `undefined`. */
  async #openStream(): Promise<OpenStream | undefined> {
    const { settings, context } = this.#parts;
    const { slot } = settings;
    for (let attempt = 0; ; attempt++) {
      const link = await connectToLog(this.#parts);
      try {
        const sent = { position: this.#sent, snapshotLsn: this.#startLsn - 1n, log: this.#sent?.log };
        if (await this.#readsAgain({ ...sent, isSnapshotOpen: false }, link)) {
          link.connection.close();
          await this.#beginSnapshot(await capturedTables(this.#parts.executor, settings), link.slot);
          return undefined;
        }
        const opened = await openStream(link, this.#parts, this.#sent, this.#startLsn);
        this.#parts.records.streamOpened();
        return opened;
      } catch (error) {
        link.connection.close();
        const isInUse = error instanceof DatabaseError && error.sqlstate === SLOT_IN_USE;
        if (!isInUse || attempt >= slot.retries) throw error;
        await delay(Math.min(slot.retryDelayMs, 500 * 2 ** attempt), undefined, { signal: context.signal });
      }
    }
  }

  async #pause(): Promise<void> {
    const { signal } = this.#parts.context;
    await delay(MAX_WAIT_MS, undefined, { signal }).catch(() => undefined);
  }

  #closeStream(): void {
    this.#open?.stream.close();
    this.#open = undefined;
  }

  get #parts(): Parts {
    if (this.#started === undefined) throw new Error('The task is not started');
    return this.#started;
  }
}
