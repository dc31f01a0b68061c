import {
  ConnectError,
  toError,
  type FailedRecord,
  type JsonEncoding,
  type Logger,
  type SourceRecord,
} from '../../src/index.ts';
import type { Executor } from '../database/index.ts';
import type { ChangeRecords } from './change-records.ts';
import { EventTime } from './envelope.ts';
import { lsnText } from './lsn.ts';
import type { LoggedOperation, LogMetrics } from './log-metrics.ts';
import { HEAD_BYTES, INSERT, UPDATE, type TransactionOrigin } from './json-rows.ts';
import { LoggedTables } from './logged-tables.ts';
import type { LogChunk } from './message-queue.ts';
import type { LogMessage } from './pgoutput.ts';
import { PositionTracker, toOffset, type LogPosition } from './position.ts';
import type { RecordBlocks } from './record-blocks.ts';
import type { ChangePlace, TableForm } from './record-form.ts';
import type { LogSettings } from './settings.ts';
import { readSignal, type SnapshotSignal } from './signals.ts';
import type { TableNaming } from './table-naming.ts';
import { TransactionCounts, transactionId, transactionOffset } from './transaction-log.ts';

type ChangeRecord = SourceRecord | FailedRecord;

interface ReaderParts {
  readonly executor: Executor;
  readonly settings: LogSettings;
  readonly records: ChangeRecords;
  readonly metrics: LogMetrics;
  readonly logger: Logger;
  /** Set if inserts and updates can be written as JSON directly, without creating record objects. */
  readonly json: JsonEncoding | undefined;
}

/** Converts the messages of one stream to records, and tracks the position. */
export class ChangeReader {
  readonly #settings: LogSettings;
  readonly #records: ChangeRecords;
  readonly #metrics: LogMetrics;
  readonly #logger: Logger;
  readonly #tracker: PositionTracker;
  #signal: SnapshotSignal | undefined;
  readonly #tables: LoggedTables;
  #origin: { readonly name: string; readonly lsn: bigint } | undefined;
  /** Row counts of the current transaction; only with `provide.transaction.metadata`. */
  #counts: TransactionCounts | undefined;
  /** ID and commit time of the current transaction, for its records. */
  #xid = 0n;
  #time = new EventTime(0n);
  #current: TransactionOrigin | undefined;
  /** Commit time of the last change since `reportTime` was called, if there was one. */
  #lastSeen: EventTime | undefined;
  /** Time of the last commit, or of the start of the stream. Messages outside of transactions use it, because they have no time. */
  #lastTime = new EventTime(BigInt(Date.now()) * 1000n);

  /** @param sent the position after the last record that was sent */
  constructor({ executor, settings, records, metrics, logger, json }: ReaderParts, sent: LogPosition) {
    this.#settings = settings;
    this.#records = records;
    this.#metrics = metrics;
    this.#logger = logger;
    this.#tables = new LoggedTables({ executor, settings, records, json });
    this.#tracker = new PositionTracker(sent);
  }

  get position(): LogPosition {
    return this.#tracker.position;
  }

  /** Notes that the server has sent everything before `end`. */
  advance(end: bigint): void {
    this.#tracker.advance(end);
  }

  /** Returns the snapshot that was requested since the last call, if any. */
  takeSignal(): SnapshotSignal | undefined {
    const signal = this.#signal;
    this.#signal = undefined;
    return signal;
  }

  /** Reports the time of the last change to the metrics, if there were changes since the last call. */
  reportTime(): void {
    if (this.#lastSeen !== undefined) this.#metrics.read(this.#lastSeen.micros);
    this.#lastSeen = undefined;
  }

  /**
   * Writes the record of an insert or an update as JSON.
   * @returns false if nothing was written, because the message must be passed to `recordsOf`
   */
  pack(chunk: LogChunk, blocks: RecordBlocks): boolean {
    const { bytes, start, end, lsn } = chunk;
    const type = bytes[start];
    if ((type !== INSERT && type !== UPDATE) || this.#tracker.transaction === undefined) return false;
    if (end - start < HEAD_BYTES) return false;
    const rows = this.#tables.jsonRows(bytes.readUInt32BE(start + 1));
    if (rows === undefined) return false;
    const packer = blocks.packerOf(rows.topic);
    try {
      if (!rows.begin(packer, chunk, this.#transactionOrigin())) return false;
    } catch {
      // `recordsOf` then fails with the same error, and reports it.
      return false;
    }
    const operation = type === INSERT ? 'INSERT' : 'UPDATE';
    if (!this.#tracker.isNew(lsn, operation)) {
      packer.undo();
      return true;
    }
    packer.end();
    blocks.count += 1;
    this.#seen(operation);
    return true;
  }

  /** Converts a message. If values cannot be converted, the result is a failed record. @throws DatabaseError if the catalogue cannot be read */
  async recordsOf(message: LogMessage, lsn: bigint): Promise<readonly ChangeRecord[]> {
    switch (message.kind) {
      case 'begin':
        this.#origin = undefined;
        this.#current = undefined;
        this.#tracker.begin(message);
        this.#xid = BigInt(message.xid);
        this.#time = new EventTime(message.commitMicros);
        this.#counts = undefined;
        return [];
      case 'commit':
        return this.#committed(message, lsn);
      case 'relation':
        await this.#tables.learn(message);
        return [];
      case 'origin':
        this.#origin = { name: message.name, lsn: message.originLsn };
        this.#current = undefined;
        return [];
      case 'insert':
        return this.#changes(message.oid, 'INSERT', lsn, (table, place) => {
          if (this.#settings.isSignalTable(table.definition)) this.#signal = readSignal(message.after, this.#logger);
          return table.insert(message.after, place);
        });
      case 'update':
        return this.#changes(message.oid, 'UPDATE', lsn, (table, place) =>
          table.update(message.before, message.after, place),
        );
      case 'delete':
        return this.#changes(message.oid, 'DELETE', lsn, (table, place) => table.delete(message.before, place));
      case 'truncate':
        return message.oids.flatMap((oid) =>
          this.#changes(oid, 'TRUNCATE', lsn, (table, place) => table.truncate(place)),
        );
      case 'message':
        return this.#message(message);
      case 'ignored':
        return [];
    }
  }

  /** Handles the end of a transaction. With `provide.transaction.metadata`, returns a record for it. */
  #committed(message: Extract<LogMessage, { kind: 'commit' }>, lsn: bigint): readonly SourceRecord[] {
    const counts = this.#counts;
    const isNew = counts !== undefined && this.#tracker.isNew(lsn, 'COMMIT');
    this.#lastTime = new EventTime(message.commitMicros);
    this.#metrics.committed(this.#tracker.transaction?.xid ?? 0);
    this.#tracker.commit(message);
    if (!isNew) return [];
    const offset = { ...toOffset(this.#tracker.position), ...transactionOffset(counts) };
    return [this.#records.transaction(transactionId(counts.xid, message.commitLsn), counts, offset)];
  }

  #message(message: Extract<LogMessage, { kind: 'message' }>): readonly SourceRecord[] {
    const transaction = message.isTransactional ? this.#tracker.transaction : undefined;
    const isNew = message.isTransactional
      ? this.#tracker.isNew(message.lsn, 'MESSAGE')
      : this.#tracker.isNewMessage(message.lsn, this.#lastTime.micros);
    if (!isNew) return [];
    const { lastCommit } = this.#tracker;
    const place: ChangePlace = {
      offset: toOffset(this.#tracker.position),
      origin: {
        snapshot: null,
        lastCommit,
        lsn: message.lsn,
        xid: transaction === undefined ? null : this.#xid,
        time: transaction === undefined ? this.#lastTime : this.#time,
        origin: null,
        originLsn: null,
      },
    };
    return this.#records.message(message.prefix, message.content, place);
  }

  #changes(
    oid: number,
    type: LoggedOperation,
    lsn: bigint,
    make: (table: TableForm, place: ChangePlace) => readonly SourceRecord[],
  ): readonly ChangeRecord[] {
    const transaction = this.#tracker.transaction;
    if (!this.#tracker.isNew(lsn, type) || transaction === undefined) return [];
    this.#seen(type);
    const table = this.#tables.form(oid);
    if (table === undefined) {
      this.#metrics.filtered();
      return [];
    }
    const offset = toOffset(this.#tracker.position);
    const begun: SourceRecord[] = [];
    if (this.#settings.transactionMetadata && this.#counts === undefined) {
      this.#counts = new TransactionCounts(transaction.xid);
      begun.push(this.#records.transaction(transactionId(transaction.xid, lsn), undefined, offset));
    }
    const counts = this.#counts;
    const place: ChangePlace = {
      offset,
      ...(counts !== undefined && { count: (of: TableNaming) => counts.count(of, lsn) }),
      origin: { ...this.#transactionOrigin(), lsn },
    };
    try {
      const made = make(table, place);
      if (made.length === 0) this.#metrics.filtered();
      return begun.length === 0 ? made : [...begun, ...made];
    } catch (error) {
      const { schema, name } = table.definition;
      const where = `table ${schema}.${name} at ${lsnText(lsn)}`;
      const message = `A change of ${where} cannot be converted: ${toError(error).message}`;
      const failed: FailedRecord = {
        error: new ConnectError(message, { scope: 'record', cause: error }),
        topic: table.topic,
        sourcePartition: this.#records.partition,
        sourceOffset: offset,
        content: null,
      };
      return [...begun, failed];
    }
  }

  #seen(operation: LoggedOperation): void {
    this.#metrics.seen(operation);
    this.#lastSeen = this.#time;
  }

  /** The origin of all changes of the current transaction. A logical message within the transaction does not change it. */
  #transactionOrigin(): TransactionOrigin {
    this.#current ??= {
      snapshot: null,
      lastCommit: this.#tracker.lastCommit,
      xid: this.#xid,
      time: this.#time,
      origin: this.#origin?.name ?? null,
      originLsn: this.#origin?.lsn ?? null,
    };
    return this.#current;
  }
}
