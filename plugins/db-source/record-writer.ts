import {
  ConnectError,
  DataError,
  JSON_TEXT,
  MAX_PACKED_VALUE,
  RecordPacker,
  Schema,
  Turn,
  type SourceBlock,
  type SourceCoordinates,
  type SourceRecord,
} from '../../src/index.ts';
import { encodedFormats, isText, type RowEncoder } from '../database/index.ts';
import type { Page, Row, RowRange } from './feed-reader.ts';
import type { SourceSettings } from './source-settings.ts';
import { tableLabel, type SourceTable } from './tables.ts';

const STRING = new Schema('string');
const NO_HEADERS: SourceRecord['headers'] = [];

/** Characters from which on a record may be too large for a broker, whose default limit is 1 MB. */
const LARGE = 100_000;

/** Characters that a record of several rows has at most: with them it fits into a request of 1 MB, Kafka's default. */
const MAX_LENGTH = 1_000_000;

/** Rows with more bytes are not packed: what is written of them may take several times as many. */
const MAX_PACKED_ROW = 50_000;

/** What a page becomes. */
export type RecordPart = SourceRecord | SourceBlock;

/** A record of several rows that is being made. */
interface OpenRecord {
  readonly first: Row;
  readonly key: string | null;
  text: string;
  rows: number;
}

/** Where the records of a table go. */
export interface RecordTarget {
  readonly topic: string;
  readonly partition: SourceCoordinates;
  /** Told of a row that the format cannot spell, which is left out; absent: such a row is an error. */
  readonly onUnspelled: ((error: DataError) => void) | undefined;
  /** The same for a column. */
  readonly onUnspelledColumn?: ((error: DataError) => void) | undefined;
}

/**
 * Makes records of the rows of one table. Only the last record of a page has the offset behind the page, all others that before
 * it: a page is sent as a whole, and what was not acknowledged is read again.
 */
export class RecordWriter {
  readonly #table: SourceTable;
  readonly #target: RecordTarget;
  readonly #encoder: RowEncoder;
  /** Characters of a record beside its rows. */
  readonly #frameLength: number;
  readonly #rowsPerRecord: number;
  readonly #splitsLines: boolean;
  readonly #valueSchema: Schema;
  readonly #keyIndexes: readonly number[];
  readonly #largeRecords = new WeakMap<SourceRecord, Row>();
  /** Of the records packed last. */
  #bytesPerRecord = 0;

  /** Throws where the format has no spelling for the table, or the table no such key columns. */
  constructor(table: SourceTable, settings: SourceSettings, target: RecordTarget) {
    this.#table = table;
    this.#target = target;
    const { create, rowsAreLines, isJson } = encodedFormats[settings.format];
    this.#valueSchema = isJson ? JSON_TEXT : STRING;
    const named = { name: { name: tableLabel(table) }, columns: table.columns };
    const { onUnspelledColumn } = target;
    this.#encoder = create(named, { precision: settings.precision, onUnspelledColumn });
    this.#frameLength = (this.#encoder.message('.')?.length ?? 1) - 1;
    this.#rowsPerRecord = settings.rowsPerRecord;
    this.#splitsLines = rowsAreLines && settings.rowsPerRecord === 1;
    this.#keyIndexes = settings.keyColumns.map((name) => {
      const index = table.columns.findIndex((column) => column.name === name);
      if (index < 0) throw new DataError(`it has no column ${name} (key.columns)`);
      return index;
    });
  }

  /** Many rows take several turns of the event loop. */
  async records(page: Page): Promise<RecordPart[]> {
    const { rows, range, offsetBefore, offsetAfter } = page;
    const records: RecordPart[] = [];
    const packs = this.#encoder.write !== undefined && this.#rowsPerRecord === 1 && !this.#splitsLines;
    await this.#spell(records, rowsOf(rows, packs ? undefined : range), offsetBefore);
    if (packs && range !== undefined) await this.#pack(records, range, offsetBefore);
    const last = records.at(-1);
    if (last !== undefined) records[records.length - 1] = this.#withOffset(last, offsetAfter);
    return records;
  }

  async #spell(records: RecordPart[], rows: Iterable<Row>, offset: SourceCoordinates): Promise<void> {
    const turn = new Turn();
    let open: OpenRecord | undefined;
    for (const row of rows) {
      let characters = 0;
      if (this.#rowsPerRecord > 1) {
        const text = this.#spelled(row, (each) => this.#encoder.rowText(each)) ?? '';
        characters = text.length;
        if (text !== '') open = this.#append(records, open, row, text, offset);
      } else characters = this.#add(records, row, offset);
      if (turn.isOver(characters)) await turn.next();
    }
    if (open !== undefined) this.#close(records, open, offset);
  }

  /** Rows as the server sent them become bytes as the broker takes them. */
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
      const written = this.#packRow(packer, block, index);
      if (written === undefined) {
        takePacked();
        this.#add(records, block.row(index), offset);
      }
      if (turn.isOver(written ?? bytes.length / block.count)) await turn.next();
    }
    takePacked();
  }

  /** Packs what the row becomes, and gives its bytes; `undefined`: it needs a record of its own, if any. */
  #packRow(packer: RecordPacker, block: RowRange['block'], index: number): number | undefined {
    const { bytes } = block;
    const cells = block.cells(index);
    if (cells.length > MAX_PACKED_ROW) return undefined;
    packer.begin(this.#keyIndexes.length === 0 ? null : this.#keyBytes(block, index));
    try {
      const isSaid = this.#encoder.write?.(bytes, cells, packer.out) === true;
      const written = packer.valueLength;
      if (isSaid && written <= MAX_PACKED_VALUE) {
        packer.end();
        return written;
      }
      packer.undo();
      return isSaid ? undefined : 0;
    } catch (error) {
      packer.undo();
      this.#refused(block.row(index), error);
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

  /** Which row a large record is made of; others are not remembered. */
  describe(record: SourceRecord): string | undefined {
    const row = this.#largeRecords.get(record);
    return row === undefined ? undefined : this.#rowText(row);
  }

  #withOffset(record: RecordPart, sourceOffset: SourceCoordinates): RecordPart {
    if ('packed' in record) return { ...record, offsetAfter: sourceOffset };
    const moved = { ...record, sourceOffset };
    const row = this.#largeRecords.get(record);
    if (row !== undefined) this.#largeRecords.set(moved, row);
    return moved;
  }

  /** Adds what the row becomes; gives the characters of that. */
  #add(records: RecordPart[], row: Row, offset: SourceCoordinates): number {
    const value = this.#spelled(row, (each) => this.#encoder.encode(each));
    if (value === null) return 0;
    if (!this.#splitsLines) records.push(this.#record(row, value, offset));
    else for (const line of value.split('\n')) records.push(this.#record(row, line, offset));
    return value.length;
  }

  /** Adds a row to the open record, or to a new one where that has all it may have. A record has rows of one key. */
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

  #spelled(row: Row, spell: (row: Row) => string | null): string | null {
    try {
      return spell(row);
    } catch (error) {
      return this.#refused(row, error);
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

function* rowsOf(rows: readonly Row[], range: RowRange | undefined): Generator<Row> {
  yield* rows;
  if (range === undefined) return;
  for (let index = range.from; index < range.block.count; index++) yield range.block.row(index);
}

function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
