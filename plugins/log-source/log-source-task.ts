import { setTimeout as delay } from 'node:timers/promises';
import {
  RetriableError,
  toError,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
} from '../../src/index.ts';
import {
  connectWithAttempts,
  DatabaseError,
  openNamedExecutor,
  quoteIdentifier,
  quoteLiteral,
  ReplicationConnection,
  type Executor,
} from '../database/index.ts';
import type { ListedTable } from './catalogue.ts';
import { ChangeReader } from './change-reader.ts';
import { ChangeRecords } from './change-records.ts';
import { Confirmations } from './confirmations.ts';
import { LogStream } from './log-stream.ts';
import { lsnText, parseLsn } from './lsn.ts';
import { decodeLogMessage } from './pgoutput.ts';
import { fromOffset, toOffset, type LogPosition } from './position.ts';
import {
  capturedTables,
  ensurePublication,
  readServer,
  readSlot,
  setReplicaIdentities,
  type SlotState,
} from './preparation.ts';
import type { LogDoor } from './record-form.ts';
import type { LogSettings } from './settings.ts';
import type { SnapshotSignal } from './signals.ts';
import { createSlotCommand, needsSnapshot } from './slot.ts';
import { readSnapshot, type ExportedSnapshot } from './snapshot.ts';

const CONNECTIONS = 2;
/** A waiting poll returns this often, so that the worker can pause the task. */
const MAX_WAIT_MS = 1_000;
/** SQLSTATE while another process reads the slot. */
const SLOT_IN_USE = '55006';

interface Parts {
  readonly context: SourceTaskContext;
  readonly settings: LogSettings;
  readonly executor: Executor;
  readonly records: ChangeRecords;
}

interface OpenStream {
  readonly stream: LogStream;
  readonly reader: ChangeReader;
}

/** Records of one poll, with what may be confirmed once they are stored. */
class RecordBatch {
  readonly records: SourceRecord[] = [];
  readonly #groups: { readonly records: readonly SourceRecord[]; readonly lastCommit: bigint | undefined }[] = [];

  add(records: readonly SourceRecord[], lastCommit: bigint | undefined): void {
    if (records.length === 0) return;
    for (const record of records) this.records.push(record);
    this.#groups.push({ records, lastCommit });
  }

  register(confirmations: Confirmations): void {
    for (const { records, lastCommit } of this.#groups) confirmations.sent(records, lastCommit ?? 0n);
  }
}

/**
 * `io.debezium.connector.postgresql.PostgresConnectorTask`: the changes of a database, in the order of their commits.
 *
 * States: snapshot -> streaming -> stopped. A stream that breaks is opened again by the next poll, from the last message that was sent.
 * With `snapshot.mode=initial_only` the task is idle after the snapshot.
 */
export class LogSourceTask implements SourceTask {
  readonly #door: LogDoor;
  #started: Parts | undefined;
  #snapshot: AsyncGenerator<readonly SourceRecord[]> | undefined;
  #open: OpenStream | undefined;
  /** What was returned by polls; `undefined`: no change yet. */
  #sent: LogPosition | undefined;
  /** Where the stream starts if nothing was sent yet. */
  #startLsn = 0n;
  #isStreaming = true;
  readonly #confirmations = new Confirmations();
  #heartbeatAt = 0;
  /** The connection that keeps an exported snapshot. */
  #exporting: ReplicationConnection | undefined;
  readonly #stopped = new AbortController();

  constructor(door: LogDoor) {
    this.#door = door;
  }

  async start(context: SourceTaskContext): Promise<void> {
    const settings = this.#door.settings(context.config);
    const executor = openNamedExecutor(settings.connection, context, CONNECTIONS);
    const records = new ChangeRecords(settings, context.taskIndex, this.#door.form(settings, context));
    this.#started = { context, settings, executor, records };
    const { signal, logger } = context;
    await connectWithAttempts(executor, { ...settings.attempts, signal });
    await readServer(executor);
    await records.prepare(executor);
    const tables = await capturedTables(executor, settings);
    await setReplicaIdentities(executor, settings, tables);
    await ensurePublication(executor, settings, tables, logger);
    const offset = await context.offset({ server: settings.prefix });
    const stored = offset === null ? undefined : fromOffset(offset);
    const slot = await readSlot(executor, settings);
    const mode = settings.snapshot.mode;
    this.#isStreaming = mode !== 'initial_only';
    if (needsSnapshot(settings, stored, slot)) {
      await this.#beginSnapshot(tables, slot);
    } else {
      if (slot === undefined) await this.#createSlot();
      this.#sent = stored?.position;
      this.#startLsn = stored?.position?.lastCommit ?? stored?.snapshotLsn ?? 0n;
    }
  }

  async poll(): Promise<readonly SourceRecord[]> {
    if (this.#snapshot !== undefined) {
      const next = await this.#snapshot.next();
      if (next.done !== true) return next.value;
      this.#endSnapshot();
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

  commitRecord(record: SourceRecord): void {
    this.#confirmations.acknowledged(record);
  }

  async stop(): Promise<void> {
    const parts = this.#started;
    this.#started = undefined;
    this.#closeStream();
    this.#exporting?.close();
    this.#stopped.abort();
    await this.#snapshot?.return(undefined).catch(() => undefined);
    if (parts === undefined) return;
    if (parts.settings.slot.dropOnStop) await this.#dropSlot(parts);
    await parts.executor.close();
  }

  async #beginSnapshot(tables: readonly ListedTable[], slot: SlotState | undefined): Promise<void> {
    const { settings, executor, records, context } = this.#parts;
    const { snapshot } = settings;
    const exported = await this.#exportSnapshot(slot);
    const chosen = tables.filter((table) => snapshot.includes(table));
    context.logger.info(`Snapshot of ${String(chosen.length)} tables begins at ${lsnText(exported.lsn)}`);
    this.#startLsn = exported.lsn;
    const signal = AbortSignal.any([context.signal, this.#stopped.signal]);
    this.#snapshot = readSnapshot(chosen, exported, { executor, settings, records, signal });
  }

  /** The stream waits until the tables have been read. */
  async #beginRequestedSnapshot({ includes }: SnapshotSignal): Promise<void> {
    const { settings, executor, records, context } = this.#parts;
    const tables = (await capturedTables(executor, settings)).filter((table) => includes(table));
    const exported = await this.#exportSnapshot(await readSlot(executor, settings));
    const offset = this.#sent === undefined ? undefined : toOffset(this.#sent);
    context.logger.info(`Snapshot of ${String(tables.length)} tables begins, because a signal requested it`);
    const signal = AbortSignal.any([context.signal, this.#stopped.signal]);
    const snapshot = { ...exported, ...(offset !== undefined && { offset }) };
    this.#snapshot = readSnapshot(tables, snapshot, { executor, settings, records, signal });
  }

  /** Creates the slot, or a temporary one beside it: only a new slot exports a snapshot. */
  async #exportSnapshot(slot: SlotState | undefined): Promise<ExportedSnapshot> {
    const { settings, context } = this.#parts;
    this.#exporting = await ReplicationConnection.open(settings.connection, context.signal);
    const name = slot === undefined ? settings.slot.name : `${settings.slot.name.slice(0, 50)}_snapshot`;
    const isTemporary = slot !== undefined;
    const { rows } = await this.#exporting.command(
      createSlotCommand(name, { isTemporary, isExporting: true }, settings),
    );
    const [, lsn, snapshot] = rows[0] ?? [];
    return { lsn: parseLsn(lsn ?? ''), name: snapshot ?? '' };
  }

  async #createSlot(): Promise<void> {
    const { settings, context } = this.#parts;
    const connection = await ReplicationConnection.open(settings.connection, context.signal);
    try {
      const kind = { isTemporary: false, isExporting: false };
      await connection.command(createSlotCommand(settings.slot.name, kind, settings));
    } finally {
      connection.close();
    }
  }

  #endSnapshot(): void {
    this.#parts.context.logger.info('Snapshot ended');
    this.#snapshot = undefined;
    this.#exporting?.close();
    this.#exporting = undefined;
  }

  async #dropSlot({ settings, context }: Parts): Promise<void> {
    try {
      const connection = await ReplicationConnection.open(settings.connection);
      await connection
        .command(`DROP_REPLICATION_SLOT ${quoteIdentifier(settings.slot.name)} WAIT`)
        .finally(() => connection.close());
    } catch (error) {
      context.logger.warn(`Slot ${settings.slot.name} was not dropped: ${toError(error).message}`);
    }
  }

  async #pollLog(): Promise<readonly SourceRecord[]> {
    const { settings, context } = this.#parts;
    if (this.#open === undefined) {
      // The stream begins with a transaction, so that the first change has one before it.
      await this.#runHeartbeatStatement();
      this.#open = await this.#openStream();
    }
    const { stream, reader } = this.#open;
    const most = Math.min(settings.queue.batchSize, context.pollMax?.() ?? Infinity);
    await stream.arrival(Math.min(MAX_WAIT_MS, settings.queue.pollMs), context.signal);
    const batch = new RecordBatch();
    while (batch.records.length < most && (batch.records.length === 0 || stream.hasMessages)) {
      const chunk = stream.take();
      if (chunk === undefined) break;
      const { lastCommit } = reader.position;
      batch.add(await reader.recordsOf(decodeLogMessage(chunk.message), chunk.lsn), lastCommit);
    }
    await this.#beat(batch, reader.position);
    // Nothing counts as sent before it is returned: after a failure the stream is read again from here.
    this.#sent = reader.position;
    batch.register(this.#confirmations);
    const signal = reader.takeSignal();
    if (signal !== undefined) await this.#beginRequestedSnapshot(signal);
    return batch.records;
  }

  async #openStream(): Promise<OpenStream> {
    const { settings, context, executor, records } = this.#parts;
    const { slot, queue, publication, connection } = settings;
    const start = this.#sent?.lastCommit ?? this.#startLsn;
    const names = quoteLiteral(quoteIdentifier(publication.name));
    const command =
      `START_REPLICATION SLOT ${quoteIdentifier(slot.name)} LOGICAL ${lsnText(start)} ` +
      `(proto_version '1', publication_names ${names}, messages 'true')`;
    const limits = { messages: queue.size, bytes: queue.bytes };
    const options = { limits, start, statusIntervalMs: slot.statusIntervalMs };
    for (let attempt = 0; ; attempt++) {
      try {
        const stream = await LogStream.open(connection, command, options, context.signal);
        records.streamOpened();
        context.logger.info(`Streaming from ${lsnText(start)} of slot ${slot.name}`);
        return {
          stream,
          reader: new ChangeReader({ executor, settings, records, logger: context.logger }, this.#sent),
        };
      } catch (error) {
        const isInUse = error instanceof DatabaseError && error.sqlstate === SLOT_IN_USE;
        if (!isInUse || attempt >= slot.retries) throw error;
        await delay(Math.min(slot.retryDelayMs, 500 * 2 ** attempt), undefined, { signal: context.signal });
      }
    }
  }

  async #beat(batch: RecordBatch, position: LogPosition): Promise<void> {
    const { settings, records } = this.#parts;
    const { intervalMs } = settings.heartbeat;
    if (intervalMs === 0 || Date.now() < this.#heartbeatAt) return;
    if (position.last !== undefined || position.lastCommit !== undefined) {
      batch.add([records.heartbeat(toOffset(position))], position.lastCommit);
    }
    await this.#runHeartbeatStatement();
  }

  async #runHeartbeatStatement(): Promise<void> {
    const { settings, executor, context } = this.#parts;
    const { intervalMs, sql } = settings.heartbeat;
    this.#heartbeatAt = Date.now() + intervalMs;
    if (intervalMs === 0 || sql === undefined) return;
    try {
      await executor.query(sql);
    } catch (error) {
      context.logger.warn(`heartbeat.action.query failed: ${toError(error).message}`);
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
