import {
  ConnectError,
  DataError,
  JSON_TEXT,
  MAX_PACKED_VALUE,
  RecordPacker,
  Schema,
  Turn,
  type FailedRecord,
  type SourceBlock,
  type SourceCoordinates,
  type SourceRecord,
} from '../../src/index.ts';
import { encodedFormats, isText, type EncodedTable, type RowEncoder, type Table } from '../database/index.ts';
import type { Page, Row, RowRange } from './feed-reader.ts';
import type { SourceSettings } from './source-settings.ts';
import { tableLabel } from './tables.ts';

const STRING = new Schema('string');
const NO_HEADERS: SourceRecord['headers'] = [];

/** For records with more characters than this, the row is kept for `describe`, because the broker may reject them (limit 1 MB by default). */
const LARGE = 100_000;

/** Maximum length of a multi-row record in characters, so that it fits into a request of 1 MB, Kafka's default. */
const MAX_LENGTH = 1_000_000;

/** Larger rows are not packed, because their encoded form may be several times as large. */
const MAX_PACKED_ROW = 50_000;

/** One or more rows; a FailedRecord is a row that the format cannot represent. */
export type RecordPart = SourceRecord | FailedRecord | SourceBlock;

export type WrittenTable = Pick<Table, 'name' | 'key'> & Pick<EncodedTable, 'columns'>;
export type WriterSettings = Pick<SourceSettings, 'format' | 'precision' | 'rowsPerRecord' | 'keyColumns'>;

/** A multi-row record under construction. */
interface OpenRecord {
  readonly first: Row;
  readonly key: string | null;
  text: string;
  rows: number;
}

/** The destination of a table's records. */
export interface RecordTarget {
  readonly topic: string;
  readonly partition: SourceCoordinates;
  /** Called for a row that the format cannot represent and that becomes a FailedRecord. Without it, such a row is an error. */
  readonly onUnsupportedRow: ((error: DataError) => void) | undefined;
  /** Called for a column that the format cannot represent and that is left out. Without it, the table is an error. */
  readonly onUnsupportedColumn?: ((error: DataError) => void) | undefined;
}

/**
 * Converts rows of a table to records. The last record of a page has the offset after the page; all other records have the
 * offset before it. If a page is not acknowledged completely, it is therefore read and sent again as a whole.
 */
export class RecordWriter {
  readonly #table: WrittenTable;
  readonly #target: RecordTarget;
  readonly #encoder: RowEncoder;
  /** Number of characters of a record in addition to its rows. */
  readonly #frameLength: number;
  readonly #rowsPerRecord: number;
  readonly #splitsLines: boolean;
  readonly #valueSchema: Schema;
  readonly #keyIndexes: readonly number[];
  readonly #largeRecords = new WeakMap<SourceRecord, Row>();
  /** Average size in bytes of the records of the last packed page. */
  #bytesPerRecord = 0;

  /** Throws a DataError if the format cannot represent the table, or if the table lacks a key column. */
  constructor(table: WrittenTable, settings: WriterSettings, target: RecordTarget) {
    this.#table = table;
    this.#target = target;
    const { create, rowsAreLines, isJson } = encodedFormats[settings.format];
    this.#valueSchema = isJson ? JSON_TEXT : STRING;
    const named = { name: { name: tableLabel(table) }, columns: table.columns };
    const { onUnsupportedColumn } = target;
    this.#encoder = create(named, { precision: settings.precision, onUnsupportedColumn });
    this.#frameLength = (this.#encoder.message('.')?.length ?? 1) - 1;
    this.#rowsPerRecord = settings.rowsPerRecord;
    this.#splitsLines = rowsAreLines && settings.rowsPerRecord === 1;
    this.#keyIndexes = settings.keyColumns.map((name) => {
      const index = table.columns.findIndex((column) => column.name === name);
      if (index < 0) throw new DataError(`it has no column ${name} (key.columns)`);
      return index;
    });
  }

  /** Returns the records of one row. @throws DataError if the format cannot represent the row */
  recordsOf(row: Row, offset: SourceCoordinates): readonly SourceRecord[] {
    const value = this.#encoder.encode(row);
    return value === null ? [] : this.#valueRecords(row, value, offset);
  }

  #valueRecords(row: Row, value: string, offset: SourceCoordinates): readonly SourceRecord[] {
    const values = this.#splitsLines ? value.split('\n') : [value];
    return values.map((each) => this.#record(row, each, offset));
  }

  /** Converts a page. A large page is processed over several iterations of the event loop. */
  async records(page: Page): Promise<RecordPart[]> {
    const { rows, range, offsetBefore, offsetAfter } = page;
    const records: RecordPart[] = [];
    const packs = this.#encoder.write !== undefined && this.#rowsPerRecord === 1 && !this.#splitsLines;
    await this.#encodeRows(records, rowsOf(rows, packs ? undefined : range), offsetBefore);
    if (packs && range !== undefined) await this.#pack(records, range, offsetBefore);
    const last = records.at(-1);
    if (last !== undefined) records[records.length - 1] = this.#withOffset(last, offsetAfter);
    return records;
  }

  async #encodeRows(records: RecordPart[], rows: Iterable<Row>, offset: SourceCoordinates): Promise<void> {
    const turn = new Turn();
    let open: OpenRecord | undefined;
    for (const row of rows) {
      let characters = 0;
      if (this.#rowsPerRecord > 1) {
        const text = this.#encoded(records, row, offset, (each) => this.#encoder.rowText(each)) ?? '';
        characters = text.length;
        if (text !== '') open = this.#append(records, open, row, text, offset);
      } else characters = this.#add(records, row, offset);
      if (turn.isOver(characters)) await turn.next();
    }
    if (open !== undefined) this.#close(records, open, offset);
  }

  /** Converts rows from the server's format directly to the bytes of records. */
  async #pack(records: RecordPart[], { block, from }: RowRange, offset: SourceCoordinates): Promise<void> {
    const turn = new Turn();
    const { bytes } = block;
    const expected = 1.1 * this.#bytesPerRecord * (block.count - from);
    const packer = new RecordPacker(this.#target.topic, expected);
    const takePacked = (): void => {
      for (const packed of packer.take()) {
        this.#bytesPerRecord = packed.bytes.length / packed.length;
        records.push(this.#block(packed, offset));
      }
    };
    for (let index = from; index < block.count; index++) {
      const written = this.#packRow(records, packer, { block, from: index }, offset);
      if (written === undefined) {
        takePacked();
        this.#add(records, block.row(index), offset);
      }
      if (turn.isOver(written ?? bytes.length / block.count)) await turn.next();
    }
    takePacked();
  }

  /** Packs the record of a row and returns its size; `undefined` if the row needs a separate record. */
  #packRow(
    records: RecordPart[],
    packer: RecordPacker,
    { block, from: index }: RowRange,
    offset: SourceCoordinates,
  ): number | undefined {
    const { bytes } = block;
    const cells = block.cells(index);
    if (cells.length > MAX_PACKED_ROW) return undefined;
    packer.begin(this.#keyIndexes.length === 0 ? null : this.#keyBytes(block, index));
    try {
      const isWritten = this.#encoder.write?.(bytes, cells, packer.out) === true;
      const written = packer.valueLength;
      if (isWritten && written <= MAX_PACKED_VALUE) {
        packer.end();
        return written;
      }
      packer.undo();
      return isWritten ? undefined : 0;
    } catch (error) {
      packer.undo();
      this.#refused(records, block.row(index), offset, error);
      return 0;
    }
  }

  #keyBytes(block: RowRange['block'], index: number): Uint8Array | null {
    const [column = 0, ...more] = this.#keyIndexes;
    if (more.length === 0) {
      const { starts, ends } = block.cells(index);
      const start = starts[column] ?? -1;
      const end = ends[column] ?? -1;
      if (start < 0) return null;
      if (isText(block.bytes, start, end)) return block.bytes.subarray(start, end);
    }
    const key = this.#key(block.row(index));
    return key === null ? null : Buffer.from(key);
  }

  #block(packed: SourceBlock['packed'], offset: SourceCoordinates): SourceBlock {
    return {
      packed,
      keySchema: STRING,
      valueSchema: this.#valueSchema,
      sourcePartition: this.#target.partition,
      offsetBefore: offset,
      offsetAfter: offset,
    };
  }

  /** Describes the row of a large record. Rows of other records are not kept, so the result is `undefined`. */
  describe(record: SourceRecord): string | undefined {
    const row = this.#largeRecords.get(record);
    return row === undefined ? undefined : rowText(this.#table, row);
  }

  #withOffset(record: RecordPart, sourceOffset: SourceCoordinates): RecordPart {
    if ('packed' in record) return { ...record, offsetAfter: sourceOffset };
    const moved = { ...record, sourceOffset };
    if ('error' in record || 'error' in moved) return moved;
    const row = this.#largeRecords.get(record);
    if (row !== undefined) this.#largeRecords.set(moved, row);
    return moved;
  }

  /** Adds the records of a row, and returns their size in characters. */
  #add(records: RecordPart[], row: Row, offset: SourceCoordinates): number {
    const value = this.#encoded(records, row, offset, (each) => this.#encoder.encode(each));
    if (value === null) return 0;
    if (!this.#splitsLines) records.push(this.#record(row, value, offset));
    else records.push(...this.#valueRecords(row, value, offset));
    return value.length;
  }

  /** Adds a row to the open record, or to a new one if it is full. A record only contains rows with the same key. */
  #append(
    records: RecordPart[],
    open: OpenRecord | undefined,
    row: Row,
    text: string,
    offset: SourceCoordinates,
  ): OpenRecord {
    const key = this.#key(row);
    if (open !== undefined) {
      const length = this.#frameLength + open.text.length + this.#encoder.separator.length + text.length;
      if (open.rows < this.#rowsPerRecord && open.key === key && length <= MAX_LENGTH) {
        open.text += this.#encoder.separator + text;
        open.rows++;
        return open;
      }
      this.#close(records, open, offset);
    }
    return { first: row, key, text, rows: 1 };
  }

  #close(records: RecordPart[], { first, text }: OpenRecord, offset: SourceCoordinates): void {
    const value = this.#encoder.message(text);
    if (value !== null) records.push(this.#record(first, value, offset));
  }

  #encoded(
    records: RecordPart[],
    row: Row,
    offset: SourceCoordinates,
    encode: (row: Row) => string | null,
  ): string | null {
    try {
      return encode(row);
    } catch (error) {
      this.#refused(records, row, offset, error);
      return null;
    }
  }

  #refused(records: RecordPart[], row: Row, sourceOffset: SourceCoordinates, thrown: unknown): void {
    if (!(thrown instanceof DataError)) throw thrown;
    const error = new DataError(`${rowText(this.#table, row)}: ${thrown.message}`, { cause: thrown });
    if (this.#target.onUnsupportedRow === undefined) {
      throw new ConnectError(`A row cannot be written (errors.tolerance=all skips such rows): ${error.message}`, {
        cause: error,
      });
    }
    this.#target.onUnsupportedRow(error);
    const { topic, partition: sourcePartition } = this.#target;
    const cells = this.#table.columns.map(({ name }, index) => [name, row[index] ?? null] as const);
    const content = JSON.stringify(Object.fromEntries(cells));
    records.push({ error, topic, sourcePartition, sourceOffset, content });
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

/** Describes a row by its key, or by its first columns. */
function rowText(table: WrittenTable, row: Row): string {
  const { columns, key } = table;
  const names = key.length > 0 ? key : columns.slice(0, 3).map(({ name }) => name);
  const cells = names.map(
    (name) => `${name}=${shown(row[columns.findIndex((column) => column.name === name)] ?? 'NULL')}`,
  );
  return `table ${tableLabel(table)}, row ${cells.join(', ')}`;
}

function* rowsOf(rows: readonly Row[], range: RowRange | undefined): Generator<Row> {
  yield* rows;
  if (range === undefined) return;
  for (let index = range.from; index < range.block.count; index++) yield range.block.row(index);
}

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
