import { randomBytes } from 'node:crypto';
import {
  Schema,
  Struct,
  type Header,
  type JsonEncoding,
  type SourceCoordinates,
  type SourceRecord,
} from '../../src/index.ts';
import type { Executor, Session } from '../database/index.ts';
import type { ListedTable, TableDefinition } from './catalogue.ts';
import { envelope, messageValue, sourceOf, type Operation } from './envelope.ts';
import { JsonRows } from './json-rows.ts';
import type { LogRow, OldRow } from './pgoutput.ts';
import type { ChangePlace, RecordForm, TableForm } from './record-form.ts';
import type { LogSettings } from './settings.ts';
import { TableRecords } from './table-records.ts';
import { transactionRecord, type EndedTransaction } from './transaction-log.ts';

const TEXT = new Schema('string');
const HEARTBEAT_KEY = Schema.struct([{ name: 'serverName', schema: TEXT }], {
  name: 'io.debezium.connector.common.ServerNameKey',
  version: 1,
});
const HEARTBEAT = Schema.struct([{ name: 'ts_ms', schema: new Schema('int64') }], {
  name: 'io.debezium.connector.common.Heartbeat',
  version: 1,
});
const MESSAGE_KEY = Schema.struct([{ name: 'prefix', schema: new Schema('string', { optional: true }) }], {
  name: 'io.debezium.connector.postgresql.MessageKey',
  version: 1,
});

/** Makes the records of changes, in Debezium's form unless another form is given. */
export class ChangeRecords {
  readonly #settings: LogSettings;
  readonly #headers: readonly Header[];
  readonly partition: SourceCoordinates;
  readonly #form: RecordForm | undefined;

  constructor(settings: LogSettings, taskIndex: number, form?: RecordForm) {
    this.#settings = settings;
    this.#form = form;
    this.partition = { server: settings.prefix };
    const header = (key: string, value: string): Header => ({ key: `__debezium.context.${key}`, schema: TEXT, value });
    this.#headers = settings.headers
      ? [
          header('connectorLogicalName', settings.prefix),
          header('taskId', String(taskIndex)),
          header('connectorName', 'postgresql'),
          header('runId', timeOrderedUuid()),
        ]
      : [];
  }

  async prepare(executor: Executor): Promise<void> {
    await this.#form?.prepare(executor);
  }

  async beforeRows(
    session: Session,
    tables: readonly ListedTable[],
    offset: SourceCoordinates,
  ): Promise<readonly SourceRecord[]> {
    return (await this.#form?.beforeRows(session, tables, offset)) ?? [];
  }

  streamOpened(): void {
    this.#form?.streamOpened();
  }

  /** See `RecordForm.structures`. */
  structures(table: Pick<ListedTable, 'oid' | 'schema' | 'name'>): TableForm | undefined {
    return this.#form?.structures?.(table);
  }

  /** See `RecordForm.table`. */
  table(definition: TableDefinition, identity?: readonly string[]): TableForm {
    if (this.#form !== undefined) return this.#form.table(definition, identity);
    const table = new TableRecords(definition, this.#settings);
    return {
      definition,
      topic: table.topic,
      read: (row, place) => [this.#read(table, row, place)],
      insert: (after, place) => this.#insert(table, after, place),
      update: (before, after, place) => this.#update(table, before, after, place),
      delete: (before, place) => this.#delete(table, before, place),
      truncate: (place) => this.#truncate(table, place),
      json: (encoding) => this.#jsonRows(table, encoding),
    };
  }

  #read(table: TableRecords, row: LogRow, place: ChangePlace): SourceRecord {
    return this.#change(table, 'r', table.key(row), { before: null, after: table.value(row) }, place);
  }

  #insert(table: TableRecords, after: LogRow, place: ChangePlace): readonly SourceRecord[] {
    if (this.#settings.skips.has('c')) return [];
    return [this.#change(table, 'c', table.key(after), { before: null, after: table.value(after) }, place)];
  }

  /** Returns one record. If the update changes the key: a delete, a tombstone (unless disabled) and an insert. */
  #update(table: TableRecords, before: OldRow | undefined, after: LogRow, place: ChangePlace): readonly SourceRecord[] {
    if (this.#settings.skips.has('u')) return [];
    const key = table.key(after, before);
    const oldKey = before === undefined ? null : table.key(before.values);
    const newRow = table.value(after, before);
    if (before !== undefined && key !== null && oldKey !== null && !isEqual(key, oldKey)) {
      const source = { before: table.value(before.values), after: null };
      const newKey = { key: '__debezium.newkey', schema: key.schema, value: key };
      const deleted = this.#change(table, 'd', oldKey, source, place, newKey);
      const created = this.#change(table, 'c', key, { before: null, after: newRow }, place, {
        key: '__debezium.oldkey',
        schema: oldKey.schema,
        value: oldKey,
      });
      return [deleted, ...this.#tombstone(deleted), created];
    }
    const oldRow = before?.isWhole === true ? table.value(before.values) : null;
    return [this.#change(table, 'u', key, { before: oldRow, after: newRow }, place)];
  }

  #delete(table: TableRecords, before: OldRow, place: ChangePlace): readonly SourceRecord[] {
    if (this.#settings.skips.has('d')) return [];
    const rows = { before: table.value(before.values), after: null };
    const deleted = this.#change(table, 'd', table.key(before.values), rows, place);
    return [deleted, ...this.#tombstone(deleted)];
  }

  #truncate(table: TableRecords, place: ChangePlace): readonly SourceRecord[] {
    if (this.#settings.skips.has('t')) return [];
    return [this.#change(table, 't', null, { before: null, after: null }, place)];
  }

  /** The records of a message that was written to the log with `pg_logical_emit_message`. */
  message(prefix: string, content: Buffer, place: ChangePlace): readonly SourceRecord[] {
    const { offset, origin } = place;
    if (this.#form !== undefined || this.#settings.skips.has('m') || !this.#settings.includesMessage(prefix)) return [];
    const { prefix: connector, connection } = this.#settings;
    const source = sourceOf(origin, { connector, database: connection.database, schema: '', table: '' });
    const value = messageValue(prefix, content, source);
    const record = this.#record(`${connector}.message`, offset);
    return [
      { ...record, keySchema: MESSAGE_KEY, key: structOf(MESSAGE_KEY, prefix), valueSchema: value.schema, value },
    ];
  }

  /** The record for the begin of a transaction (`ended` is undefined) or for its end. */
  transaction(id: string, ended: EndedTransaction | undefined, offset: SourceCoordinates): SourceRecord {
    const { key, value } = transactionRecord(id, ended);
    const record = this.#record(`${this.#settings.prefix}.transaction`, offset);
    return { ...record, keySchema: key.schema, key, valueSchema: value.schema, value };
  }

  heartbeat(offset: SourceCoordinates): SourceRecord {
    const { prefix, heartbeat } = this.#settings;
    return {
      ...this.#record(heartbeat.topic, offset),
      keySchema: HEARTBEAT_KEY,
      key: structOf(HEARTBEAT_KEY, prefix),
      valueSchema: HEARTBEAT,
      value: structOf(HEARTBEAT, BigInt(Date.now())),
    };
  }

  /** The headers of all records of changes; heartbeats, messages and records of transactions have none. */
  get headers(): readonly Header[] {
    return this.#headers;
  }

  /**
   * Returns a writer of inserts and updates as JSON; `undefined` if the settings skip inserts or updates, require records of
   * transactions, or name the table as the signal table.
   */
  #jsonRows(table: TableRecords, json: JsonEncoding): JsonRows | undefined {
    const { skips, transactionMetadata, isSignalTable, prefix, connection } = this.#settings;
    const { schema, name } = table.definition;
    if (transactionMetadata || skips.has('c') || skips.has('u') || isSignalTable(table.definition)) return undefined;
    return new JsonRows(table, { connector: prefix, database: connection.database, schema, table: name }, json);
  }

  #record(topic: string, sourceOffset: SourceCoordinates, headers: readonly Header[] = []): SourceRecord {
    return {
      topic,
      partition: null,
      keySchema: null,
      key: null,
      valueSchema: null,
      value: null,
      timestamp: null,
      headers,
      sourcePartition: this.partition,
      sourceOffset,
    };
  }

  #change(
    table: TableRecords,
    operation: Operation,
    key: Struct | null,
    rows: { readonly before: Struct | null; readonly after: Struct | null },
    { offset, origin, count }: ChangePlace,
    header?: Header,
  ): SourceRecord {
    const { schema, name } = table.definition;
    const { prefix, connection } = this.#settings;
    const source = sourceOf(origin, { connector: prefix, database: connection.database, schema, table: name });
    return {
      topic: table.topic,
      partition: null,
      keySchema: key === null ? null : key.schema,
      key,
      valueSchema: table.envelope,
      value: envelope(table.envelope, operation, rows, source, count?.(table.definition)),
      timestamp: null,
      headers: header === undefined ? this.#headers : [...this.#headers, header],
      sourcePartition: this.partition,
      sourceOffset: offset,
    };
  }

  #tombstone(deleted: SourceRecord): readonly SourceRecord[] {
    return this.#settings.tombstones ? [{ ...deleted, valueSchema: null, value: null }] : [];
  }
}

function structOf(schema: Schema, value: string | bigint): Struct {
  return new Struct(schema, [value]);
}

function isEqual(one: Struct, other: Struct): boolean {
  return one.values.every((value, index) => text(value) === text(other.values[index]));
}

function text(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${String(each)}n` : each));
}

/** A UUID of version 7 (RFC 9562): the time in milliseconds, then random bits. */
function timeOrderedUuid(): string {
  const bytes = Buffer.concat([Buffer.alloc(6), randomBytes(10)]);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
