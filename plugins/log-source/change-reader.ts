import { ConnectError, toError, type Logger, type SourceRecord } from '../../src/index.ts';
import type { Executor } from '../database/index.ts';
import { describeTable, readTypeNames, readTypes, type TableColumn } from './catalogue.ts';
import type { ChangeRecords } from './change-records.ts';
import { lsnText } from './lsn.ts';
import type { LogMessage, Relation } from './pgoutput.ts';
import { PositionTracker, toOffset, type LogPosition } from './position.ts';
import type { ChangePlace, TableForm } from './record-form.ts';
import type { LogSettings } from './settings.ts';
import { readSignal, type SnapshotSignal } from './signals.ts';
import type { TableNaming } from './table-naming.ts';
import { TransactionCounts, transactionId, transactionOffset } from './transaction-log.ts';

interface ReaderParts {
  readonly executor: Executor;
  readonly settings: LogSettings;
  readonly records: ChangeRecords;
  readonly logger: Logger;
}

/** Turns the messages of one stream into records, and keeps the position. */
export class ChangeReader {
  readonly #executor: Executor;
  readonly #settings: LogSettings;
  readonly #records: ChangeRecords;
  readonly #logger: Logger;
  readonly #tracker: PositionTracker;
  #signal: SnapshotSignal | undefined;
  /** The tables that the stream has described, by their numbers; `undefined` for those that are not captured. */
  readonly #tables = new Map<number, TableForm | undefined>();
  #origin: { readonly name: string; readonly lsn: bigint } | undefined;
  /** Rows of the current transaction, with `provide.transaction.metadata`. */
  #counts: TransactionCounts | undefined;
  /** Time of the last commit, or of the start: messages outside of transactions have no time of their own. */
  #lastMicros = BigInt(Date.now()) * 1000n;

  /** @param sent what was sent already; `undefined`: nothing */
  constructor({ executor, settings, records, logger }: ReaderParts, sent: LogPosition | undefined) {
    this.#executor = executor;
    this.#settings = settings;
    this.#records = records;
    this.#logger = logger;
    this.#tracker = new PositionTracker(sent);
  }

  get position(): LogPosition {
    return this.#tracker.position;
  }

  /** A snapshot that was requested since the last call. */
  takeSignal(): SnapshotSignal | undefined {
    const signal = this.#signal;
    this.#signal = undefined;
    return signal;
  }

  /** @throws ConnectError if a value cannot be converted; DatabaseError if the catalogue cannot be read */
  async recordsOf(message: LogMessage, lsn: bigint): Promise<readonly SourceRecord[]> {
    switch (message.kind) {
      case 'begin':
        this.#origin = undefined;
        this.#tracker.begin(message);
        this.#counts = undefined;
        return [];
      case 'commit':
        return this.#committed(message, lsn);
      case 'relation':
        await this.#learn(message);
        return [];
      case 'origin':
        this.#origin = { name: message.name, lsn: message.originLsn };
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

  /** The end of a transaction; with `provide.transaction.metadata` its record. */
  #committed(message: Extract<LogMessage, { kind: 'commit' }>, lsn: bigint): readonly SourceRecord[] {
    const counts = this.#counts;
    const isNew = counts !== undefined && this.#tracker.isNew(lsn, 'COMMIT');
    this.#lastMicros = message.commitMicros;
    this.#tracker.commit(message);
    if (!isNew) return [];
    const offset = { ...toOffset(this.#tracker.position), ...transactionOffset(counts) };
    return [this.#records.transaction(transactionId(counts.xid, message.commitLsn), counts, offset)];
  }

  #message(message: Extract<LogMessage, { kind: 'message' }>): readonly SourceRecord[] {
    const transaction = message.isTransactional ? this.#tracker.transaction : undefined;
    const isNew = message.isTransactional
      ? this.#tracker.isNew(message.lsn, 'MESSAGE')
      : this.#tracker.isNewMessage(message.lsn, this.#lastMicros);
    if (!isNew) return [];
    const { lastCommit } = this.#tracker.position;
    const place: ChangePlace = {
      offset: toOffset(this.#tracker.position),
      origin: {
        snapshot: null,
        lastCommit,
        lsn: message.lsn,
        xid: transaction === undefined ? null : BigInt(transaction.xid),
        micros: transaction?.micros ?? this.#lastMicros,
        origin: null,
        originLsn: null,
      },
    };
    return this.#records.message(message.prefix, message.content, place);
  }

  #changes(
    oid: number,
    type: string,
    lsn: bigint,
    make: (table: TableForm, place: ChangePlace) => readonly SourceRecord[],
  ): readonly SourceRecord[] {
    const { lastCommit } = this.#tracker.position;
    const transaction = this.#tracker.transaction;
    if (!this.#tracker.isNew(lsn, type) || transaction === undefined) return [];
    const table = this.#tables.get(oid);
    if (table === undefined) return [];
    const { xid, micros } = transaction;
    const offset = toOffset(this.#tracker.position);
    const begun: SourceRecord[] = [];
    if (this.#settings.transactionMetadata && this.#counts === undefined) {
      this.#counts = new TransactionCounts(xid);
      begun.push(this.#records.transaction(transactionId(xid, lsn), undefined, offset));
    }
    const counts = this.#counts;
    const place: ChangePlace = {
      offset,
      ...(counts !== undefined && { count: (of: TableNaming) => counts.count(of, lsn) }),
      origin: {
        snapshot: null,
        lastCommit,
        lsn,
        xid: BigInt(xid),
        micros,
        origin: this.#origin?.name ?? null,
        originLsn: this.#origin?.lsn ?? null,
      },
    };
    try {
      return [...begun, ...make(table, place)];
    } catch (error) {
      const { schema, name } = table.definition;
      const where = `table ${schema}.${name} at ${lsnText(lsn)}`;
      throw new ConnectError(`A change of ${where} cannot be converted: ${toError(error).message}`, { cause: error });
    }
  }

  /** A table's columns as the log has them, with what the catalogue knows about them. */
  async #learn({ oid, schema, name, columns }: Relation): Promise<void> {
    const executor = this.#executor;
    const settings = this.#settings;
    const listed = { oid, schema, name };
    if (!settings.includesTable(listed)) {
      this.#tables.set(oid, undefined);
      return;
    }
    const known = await describeTable(executor, listed);
    const types = await readTypes(
      executor,
      columns.map(({ typeOid }) => typeOid),
    );
    const typeNames = await readTypeNames(executor, columns);
    const described = columns.map((column, index): TableColumn => {
      const match = known.columns.find((each) => each.name === column.name && each.type.oid === column.typeOid);
      const type = types(column.typeOid);
      return {
        name: column.name,
        type,
        typeName: typeNames[index] ?? type.name,
        modifier: column.typeModifier,
        isRequired: match?.isRequired ?? false,
        isGenerated: false,
        defaultSql: match?.defaultSql,
        comment: match?.comment,
      };
    });
    const keyColumns = known.keyColumns.filter((key) => columns.some((column) => column.name === key));
    const identity = columns.filter(({ isIdentity }) => isIdentity).map((column) => column.name);
    this.#tables.set(oid, this.#records.table({ ...listed, columns: described, keyColumns }, identity));
  }
}
