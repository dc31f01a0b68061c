import {
  ConnectError,
  DataError,
  encodedFormats,
  Schema,
  type RowEncoder,
  type SourceCoordinates,
  type SourceRecord,
} from '../../src/index.ts';
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
  readonly #keyIndexes: readonly number[];
  readonly #largeRecords = new WeakMap<SourceRecord, Row>();

  /** Throws where the format has no spelling for the table, or the table no such key columns. */
  constructor(table: SourceTable, settings: SourceSettings, target: RecordTarget) {
    this.#table = table;
    this.#target = target;
    const { create, rowsAreLines } = encodedFormats[settings.format];
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

  records({ rows, offsetBefore, offsetAfter }: Page): SourceRecord[] {
    const records: SourceRecord[] = [];
    if (this.#rowsPerRecord > 1) this.#groups(records, rows, offsetBefore);
    else if (this.#splitsLines) this.#lines(records, rows, offsetBefore);
    else {
      for (const row of rows) {
        const value = this.#encoded(row);
        if (value !== null) records.push(this.#record(row, value, offsetBefore));
      }
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

  #lines(records: SourceRecord[], rows: readonly Row[], offset: SourceCoordinates): void {
    for (const row of rows) {
      for (const line of this.#encoded(row)?.split('\n') ?? []) records.push(this.#record(row, line, offset));
    }
  }

  /** A record has rows of one key. */
  #groups(records: SourceRecord[], rows: readonly Row[], offset: SourceCoordinates): void {
    for (let start = 0; start < rows.length;) {
      const first = rows[start] ?? [];
      const key = this.#key(first);
      let end = start + 1;
      while (end < rows.length && end - start < this.#rowsPerRecord && this.#key(rows[end] ?? []) === key) end++;
      const value = this.#encodedTogether(rows.slice(start, end));
      if (value !== null) records.push(this.#record(first, value, offset));
      start = end;
    }
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
      valueSchema: STRING,
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

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
