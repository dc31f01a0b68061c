import {
  ConnectError,
  DataError,
  JSON_TEXT,
  Schema,
  Turn,
  type SourceCoordinates,
  type SourceRecord,
} from '../../src/index.ts';
import { encodedFormats, type RowEncoder } from '../../src/index-database.ts';
import type { Page, Row } from './feed-reader.ts';
import type { SourceSettings } from './source-settings.ts';
import { tableLabel, type SourceTable } from './tables.ts';

const STRING = new Schema('string');
const NO_HEADERS: SourceRecord['headers'] = [];

/** Characters from which on a record may be too large for a broker, whose default limit is 1 MB. */
const LARGE = 100_000;

/** Where the records of a table go. */
export interface RecordTarget {
  readonly topic: string;
  readonly partition: SourceCoordinates;
  /** Told of a row that the format cannot spell, which is left out; absent: such a row is an error. */
  readonly onUnspelled: ((error: DataError) => void) | undefined;
}

/**
 * Makes records of the rows of one table. Only the last record of a page has the offset behind the page, all others that before
 * it: a page is sent as a whole, and what was not acknowledged is read again.
 */
export class RecordWriter {
  readonly #table: SourceTable;
  readonly #target: RecordTarget;
  readonly #encoder: RowEncoder;
  readonly #rowsPerRecord: number;
  readonly #splitsLines: boolean;
  readonly #valueSchema: Schema;
  readonly #keyIndexes: readonly number[];
  readonly #largeRecords = new WeakMap<SourceRecord, Row>();

  /** Throws where the format has no spelling for the table, or the table no such key columns. */
  constructor(table: SourceTable, settings: SourceSettings, target: RecordTarget) {
    this.#table = table;
    this.#target = target;
    const { create, rowsAreLines, isJson } = encodedFormats[settings.format];
    this.#valueSchema = isJson ? JSON_TEXT : STRING;
    const named = { name: { name: tableLabel(table) }, columns: table.columns };
    this.#encoder = create(named, { precision: settings.precision });
    this.#rowsPerRecord = settings.rowsPerRecord;
    this.#splitsLines = rowsAreLines && settings.rowsPerRecord === 1;
    this.#keyIndexes = settings.keyColumns.map((name) => {
      const index = table.columns.findIndex((column) => column.name === name);
      if (index < 0) throw new DataError(`it has no column ${name} (key.columns)`);
      return index;
    });
  }

  /** Many rows take several turns of the event loop. */
  async records({ rows, offsetBefore, offsetAfter }: Page): Promise<SourceRecord[]> {
    const records: SourceRecord[] = [];
    const turn = new Turn();
    for (let at = 0; at < rows.length;) {
      const [before, from] = [records.length, at];
      at = this.#add(records, rows, at, offsetBefore);
      if (turn.isOver(charactersFrom(records, before), at - from)) await turn.next();
    }
    const last = records.at(-1);
    if (last !== undefined) records[records.length - 1] = this.#withOffset(last, offsetAfter);
    return records;
  }

  /** Which row a large record is made of; others are not remembered. */
  describe(record: SourceRecord): string | undefined {
    const row = this.#largeRecords.get(record);
    return row === undefined ? undefined : this.#rowText(row);
  }

  #withOffset(record: SourceRecord, sourceOffset: SourceCoordinates): SourceRecord {
    const moved = { ...record, sourceOffset };
    const row = this.#largeRecords.get(record);
    if (row !== undefined) this.#largeRecords.set(moved, row);
    return moved;
  }

  /** Adds what the row at a place becomes, or those from there on that are one record; gives the place behind them. */
  #add(records: SourceRecord[], rows: readonly Row[], at: number, offset: SourceCoordinates): number {
    const row = rows[at] ?? [];
    if (this.#rowsPerRecord > 1) {
      const end = this.#endOfGroup(rows, at);
      const value = this.#encodedTogether(rows.slice(at, end));
      if (value !== null) records.push(this.#record(row, value, offset));
      return end;
    }
    const value = this.#encoded(row);
    if (value === null) return at + 1;
    if (!this.#splitsLines) records.push(this.#record(row, value, offset));
    else for (const line of value.split('\n')) records.push(this.#record(row, line, offset));
    return at + 1;
  }

  /** A record has rows of one key. */
  #endOfGroup(rows: readonly Row[], start: number): number {
    const key = this.#key(rows[start] ?? []);
    let end = start + 1;
    while (end < rows.length && end - start < this.#rowsPerRecord && this.#key(rows[end] ?? []) === key) end++;
    return end;
  }

  #encoded(row: Row): string | null {
    try {
      return this.#encoder.encode(row);
    } catch (error) {
      return this.#refused(row, error);
    }
  }

  #encodedTogether(rows: readonly Row[]): string | null {
    try {
      return this.#encoder.encodeAll(rows);
    } catch {
      return this.#encoder.encodeAll(rows.filter((row) => this.#encoded(row) !== null));
    }
  }

  #refused(row: Row, thrown: unknown): null {
    if (!(thrown instanceof DataError)) throw thrown;
    const error = new DataError(`${this.#rowText(row)}: ${thrown.message}`, { cause: thrown });
    if (this.#target.onUnspelled === undefined) {
      throw new ConnectError(`A row cannot be written (errors.tolerance=all leaves such rows out): ${error.message}`, {
        cause: error,
      });
    }
    this.#target.onUnspelled(error);
    return null;
  }

  /** The row by its key, or by its first columns. */
  #rowText(row: Row): string {
    const { columns, key } = this.#table;
    const names = key.length > 0 ? key : columns.slice(0, 3).map(({ name }) => name);
    const cells = names.map(
      (name) => `${name}=${shown(row[columns.findIndex((column) => column.name === name)] ?? 'NULL')}`,
    );
    return `table ${tableLabel(this.#table)}, row ${cells.join(', ')}`;
  }

  #record(row: Row, value: string, sourceOffset: SourceCoordinates): SourceRecord {
    const key = this.#key(row);
    const record = {
      topic: this.#target.topic,
      partition: null,
      keySchema: key === null ? null : STRING,
      key,
      valueSchema: this.#valueSchema,
      value,
      timestamp: null,
      headers: NO_HEADERS,
      sourcePartition: this.#target.partition,
      sourceOffset,
    };
    if (value.length > LARGE) this.#largeRecords.set(record, row);
    return record;
  }

  #key(row: Row): string | null {
    const indexes = this.#keyIndexes;
    if (indexes.length === 0) return null;
    if (indexes.length === 1) return row[indexes[0] ?? 0] ?? null;
    return JSON.stringify(indexes.map((index) => row[index] ?? null));
  }
}

function charactersFrom(records: readonly SourceRecord[], from: number): number {
  let characters = 0;
  for (let at = from; at < records.length; at++) characters += (records[at]?.value as string).length;
  return characters;
}

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
