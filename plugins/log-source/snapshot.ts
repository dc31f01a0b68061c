import {
  ConnectError,
  toError,
  type FailedRecord,
  type SourceCoordinates,
  type SourceRecord,
} from '../../src/index.ts';
import { quoteIdentifier, quoteLiteral, quoteTable, type Executor, type Session } from '../database/index.ts';
import { describeTable, type ListedTable } from './catalogue.ts';
import type { ChangeRecords } from './change-records.ts';
import { EventTime, type SnapshotMark } from './envelope.ts';
import type { LogIdentity } from './log-identity.ts';
import type { LogMetrics } from './log-metrics.ts';
import { SnapshotNotifications } from './notifications.ts';
import { identityOffset } from './position.ts';
import { readServer, type ServerState } from './preparation.ts';
import type { ChangePlace, TableForm } from './record-form.ts';
import type { LogSettings } from './settings.ts';
import { tableText } from './table-naming.ts';

/** A snapshot that was exported when a slot was created. */
export interface ExportedSnapshot {
  readonly name: string;
  /** The snapshot contains the transactions that committed before this LSN. */
  readonly lsn: bigint;
  readonly log: LogIdentity;
  /** The offset of all records, if changes were sent before the snapshot. */
  readonly offset?: SourceCoordinates;
}

type SnapshotRecord = SourceRecord | FailedRecord;

interface SnapshotParts {
  readonly executor: Executor;
  readonly settings: LogSettings;
  readonly records: ChangeRecords;
  readonly metrics: LogMetrics;
  readonly signal: AbortSignal;
}

interface Row {
  readonly table: TableForm;
  readonly values: readonly (string | null)[];
  readonly isFirstOfTable: boolean;
}

/**
 * Reads the tables one after another in a transaction with the exported snapshot. Yields batches of records. The last record has the
 * offset after which changes follow.
 *
 * Each row is held back until the next one is known, because the last row of each table and the last row of the snapshot are marked.
 */
export async function* readSnapshot(
  tables: readonly ListedTable[],
  snapshot: ExportedSnapshot,
  parts: SnapshotParts,
): AsyncGenerator<readonly SnapshotRecord[]> {
  const { executor, settings, metrics } = parts;
  metrics.snapshotBegan(tables.length);
  const batches = new Handover<readonly SnapshotRecord[]>(parts.signal);
  const reading = executor.session(async (session) => {
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await session.query(`SET TRANSACTION SNAPSHOT ${quoteLiteral(snapshot.name)}`);
    const server = await readServer(session);
    const marks = new MarkedRows(snapshot, server, parts.records.partition);
    const notices = noticesFor(tables, settings);
    let batch: SnapshotRecord[] = [...(await parts.records.beforeRows(session, tables, marks.offset(false)))];
    const notify = (type: string, data: Readonly<Record<string, string>> = {}, isEnd = false): void => {
      if (notices !== undefined) batch.push(notices.record(type, data, marks.offset(isEnd)));
    };
    notify('STARTED');
    for (const table of tables) {
      notify('IN_PROGRESS', { current_collection_in_progress: tableText(table) });
      let rows = 0;
      for await (const row of rowsOf(session, table, parts)) {
        rows += 1;
        batch.push(...marks.next(row));
        if (batch.length < settings.queue.batchSize) continue;
        metrics.scanned(tableText(table), rows, false);
        await batches.offer(batch);
        batch = [];
      }
      metrics.scanned(tableText(table), rows, true);
      const scanned = { scanned_collection: tableText(table), total_rows_scanned: String(rows), status: 'SUCCEEDED' };
      notify('TABLE_SCAN_COMPLETED', scanned);
    }
    batch.push(...marks.end());
    notify('COMPLETED', {}, true);
    if (batch.length > 0) await batches.offer(batch);
    await session.query('COMMIT');
  });
  reading.then(
    () => batches.end(),
    (error: unknown) => batches.end(toError(error)),
  );
  yield* batches.values();
}

function noticesFor(tables: readonly ListedTable[], settings: LogSettings): SnapshotNotifications | undefined {
  const { notificationTopic: topic, prefix } = settings;
  return topic === undefined ? undefined : new SnapshotNotifications(topic, prefix, tables.map(tableText));
}

async function* rowsOf(
  session: Session,
  listed: ListedTable,
  { settings, records, signal }: SnapshotParts,
): AsyncGenerator<Row> {
  const definition = await describeTable(session, listed);
  const table = records.table(definition);
  const columns = definition.columns.map(({ name }) => quoteIdentifier(name)).join(', ');
  const only = listed.isPartitioned ? '' : 'ONLY ';
  const statement =
    settings.snapshot.statementOf(definition) ??
    `SELECT ${columns === '' ? 'NULL' : columns} FROM ${only}${quoteTable(definition)}`;
  let isFirstOfTable = true;
  for await (const chunk of session.stream(statement, [], { chunkRows: settings.snapshot.fetchSize, signal })) {
    for (const values of chunk.rows) {
      yield { table, values, isFirstOfTable };
      isFirstOfTable = false;
    }
  }
}

/** Marks rows (`first`, `last` …). A row is returned once it is known whether another row follows. */
class MarkedRows {
  readonly #snapshot: ExportedSnapshot;
  readonly #server: ServerState;
  readonly #partition: SourceCoordinates;
  readonly #time: EventTime;
  #held: Row | undefined;
  #isFirst = true;

  constructor(snapshot: ExportedSnapshot, server: ServerState, partition: SourceCoordinates) {
    this.#snapshot = snapshot;
    this.#partition = partition;
    this.#server = server;
    this.#time = new EventTime(server.nowMicros);
  }

  next(row: Row): readonly SnapshotRecord[] {
    const held = this.#held;
    this.#held = row;
    if (held === undefined) return [];
    const isLastOfTable = row.isFirstOfTable;
    const inTable = held.isFirstOfTable ? 'first_in_data_collection' : 'true';
    const mark = this.#isFirst ? 'first' : isLastOfTable ? 'last_in_data_collection' : inTable;
    this.#isFirst = false;
    return this.#recordsOf(held, mark, false);
  }

  end(): readonly SnapshotRecord[] {
    return this.#held === undefined ? [] : this.#recordsOf(this.#held, 'last', true);
  }

  /** The offset of records during the snapshot, or at its end (`isEnd`). */
  offset(isEnd: boolean): SourceCoordinates {
    if (this.#snapshot.offset !== undefined) return this.#snapshot.offset;
    const { nowMicros, lastXid } = this.#server;
    const state = { snapshot: 'INITIAL', snapshot_completed: isEnd, last_snapshot_record: isEnd };
    return { lsn: this.#lsn, txId: lastXid, ts_usec: nowMicros, ...state, ...identityOffset(this.#snapshot.log) };
  }

  /** One byte before the LSN of the snapshot. The first change can have that LSN, and must compare as later. */
  get #lsn(): bigint {
    return this.#snapshot.lsn - 1n;
  }

  #recordsOf({ table, values }: Row, snapshot: SnapshotMark, isEnd: boolean): readonly SnapshotRecord[] {
    const lsn = this.#lsn;
    const { lastXid: xid } = this.#server;
    const place: ChangePlace = {
      offset: this.offset(isEnd),
      origin: { snapshot, lastCommit: undefined, lsn, xid, time: this.#time, origin: null, originLsn: null },
    };
    try {
      return table.read(values, place);
    } catch (error) {
      const message = `A row of table ${tableText(table.definition)} cannot be converted: ${toError(error).message}`;
      const failure = new ConnectError(message, { scope: 'record', cause: error });
      const where = { topic: table.topic, sourcePartition: this.#partition, sourceOffset: place.offset };
      return [{ error: failure, ...where, content: null }];
    }
  }
}

/** Passes values from a producer to a consumer, one at a time. If the signal is aborted, both fail. */
class Handover<T> {
  readonly #signal: AbortSignal;
  #value: { readonly value: T; readonly taken: () => void } | undefined;
  #ended: { readonly error: Error | undefined } | undefined;
  #changed: () => void = () => undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.end(toError(signal.reason)), { once: true });
  }

  /** Resolves when the consumer has taken the value. Rejects if the signal is aborted. */
  async offer(value: T): Promise<void> {
    this.#signal.throwIfAborted();
    await new Promise<void>((taken) => {
      this.#value = { value, taken };
      this.#changed();
    });
    this.#signal.throwIfAborted();
  }

  end(error?: Error): void {
    this.#ended ??= { error };
    this.#value?.taken();
    this.#changed();
  }

  async *values(): AsyncGenerator<T> {
    for (;;) {
      if (this.#value !== undefined && !this.#signal.aborted) {
        const { value, taken } = this.#value;
        this.#value = undefined;
        taken();
        yield value;
        continue;
      }
      if (this.#ended !== undefined) {
        if (this.#ended.error !== undefined) throw this.#ended.error;
        return;
      }
      await new Promise<void>((resolve) => (this.#changed = resolve));
    }
  }
}
