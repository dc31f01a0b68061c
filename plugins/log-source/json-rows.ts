import {
  ByteWriter,
  MAX_PACKED_VALUE,
  Schema,
  type ConnectValue,
  type JsonEncoding,
  type RecordPacker,
} from '../../src/index.ts';
import { envelopeTimes, sourceOf, type Operation, type RowOrigin, type RowTable } from './envelope.ts';
import type { LogChunk } from './message-queue.ts';
import { RowCells } from './row-cells.ts';
import type { RecordColumn, TableRecords } from './table-records.ts';

const CLOSE_BRACE = 0x7d;
/** Message types of `pgoutput`. */
export const INSERT = 0x49;
export const UPDATE = 0x55;
/** In a message, this byte precedes the new row. */
const NEW_ROW = 0x4e;
const WHOLE_OLD_ROW = 0x4f;
/** Size of the message header: the message type and the OID of the table. */
export const HEAD_BYTES = 5;

/** The origin of the changes of one transaction. All changes share one object, so that its JSON is made only once. */
export type TransactionOrigin = Omit<RowOrigin, 'lsn'>;

/** Reserves space in the writer, and then writes one cell as JSON. */
type WriteCell = (out: ByteWriter, cells: RowCells, index: number) => void;

interface JsonColumn {
  readonly index: number;
  /** The text before the value: a brace or comma, and the name of the field. */
  readonly start: Buffer;
  readonly ifNull: Uint8Array;
  /** The JSON of the placeholder for a large value that a change did not touch. */
  readonly ifUnchanged: Uint8Array;
  readonly write: WriteCell;
}

/**
 * Writes the inserts and updates of a table as JSON, directly from the messages of the log. The bytes are the same as those that the
 * converter would write for the records of ChangeRecords, but no record objects are created.
 */
export class JsonRows {
  readonly topic: string;
  readonly #json: JsonEncoding;
  readonly #table: TableRecords;
  readonly #place: RowTable;
  readonly #columns: readonly JsonColumn[];
  readonly #keys: readonly JsonColumn[];
  readonly #keyEnd: Buffer;
  readonly #envelope: { readonly nullRow: Uint8Array; readonly tails: Map<Operation, Buffer> };
  readonly #after = new RowCells();
  readonly #before = new RowCells();
  readonly #key = new ByteWriter(256);
  #source: SourceText | undefined;
  #times: { readonly ms: number; readonly text: Buffer } = { ms: 0, text: Buffer.alloc(0) };

  constructor(table: TableRecords, place: RowTable, json: JsonEncoding) {
    this.#table = table;
    this.#json = json;
    this.#place = place;
    this.topic = table.topic;
    const { valueSchema, keySchema } = table;
    const value: Encode = (schema, data) => json.value(this.topic, schema, data);
    const key: Encode = (schema, data) => json.key(this.topic, schema, data);
    this.#columns = table.columns.map((column, at) =>
      jsonColumn(column, column.schema, value, fieldStart(valueSchema, at, value)),
    );
    const keys = keySchema === null ? [] : table.keys;
    this.#keys = keys.map((column, at) =>
      jsonColumn({ ...column, mask: undefined }, column.keySchema, key, fieldStart(keySchema, at, key)),
    );
    const physical = table.physicalTable;
    this.#keyEnd =
      physical === undefined || keySchema === null
        ? Buffer.from('}')
        : Buffer.concat([
            fieldStart(keySchema, table.keys.length, key),
            key(keySchema.fields[table.keys.length]?.schema ?? keySchema, physical),
            Buffer.from('}'),
          ]);
    this.#envelope = { nullRow: value(valueSchema, null), tails: new Map() };
  }

  /**
   * Begins a record in the packer, and writes an insert or an update. The caller must then end or undo the record in
   * the packer.
   * @param chunk a message of the type I or U
   * @returns false if the key may have changed or the record is too large, so that ChangeRecords must make the record.
   * Then no record was begun
   * @throws Error if a value cannot be converted. Then no record was begun
   */
  begin(packer: RecordPacker, { bytes, start, end, lsn }: LogChunk, origin: TransactionOrigin): boolean {
    if (end - start > MAX_PACKED_VALUE / 4) return false;
    const isInsert = bytes[start] === INSERT;
    let at = start + HEAD_BYTES;
    let hasBefore = false;
    if (!isInsert && bytes[at] !== NEW_ROW) {
      if (bytes[at] !== WHOLE_OLD_ROW) return false;
      at = this.#before.read(bytes, at + 1, end);
      hasBefore = true;
    }
    if (bytes[at] !== NEW_ROW) return false;
    this.#after.read(bytes, at + 1, end);
    if (hasBefore && this.#keys.some(({ index }) => !this.#after.isSame(index, this.#before))) return false;
    if (this.#table.keySchema === null) packer.begin(null);
    else {
      this.#writeKey(hasBefore);
      packer.begin(this.#key.bytes, this.#key.at);
    }
    try {
      this.#write(packer.out, isInsert ? 'c' : 'u', hasBefore, lsn, origin);
      if (packer.valueLength <= MAX_PACKED_VALUE) return true;
    } catch (error) {
      packer.undo();
      throw error;
    }
    packer.undo();
    return false;
  }

  #writeKey(hasBefore: boolean): void {
    const out = this.#key;
    out.at = 0;
    this.#row(out, this.#keys, this.#after, hasBefore ? this.#before : undefined);
    out.reserve(this.#keyEnd.length);
    out.put(this.#keyEnd);
  }

  #write(out: ByteWriter, operation: Operation, hasBefore: boolean, lsn: bigint, origin: TransactionOrigin): void {
    const { nullRow } = this.#envelope;
    put(out, BEFORE);
    if (hasBefore) this.#wholeRow(out, this.#before, undefined);
    else put(out, nullRow);
    put(out, AFTER);
    this.#wholeRow(out, this.#after, hasBefore ? this.#before : undefined);
    put(out, SOURCE);
    const source = this.#sourceText(origin);
    put(out, source.start);
    const lsnAt = out.at;
    writeLsn(out, lsn);
    const lsnEnd = out.at;
    put(out, source.middle);
    out.repeat(lsnAt, lsnEnd);
    put(out, source.end);
    put(out, this.#tail(operation));
    put(out, this.#timesText());
  }

  #wholeRow(out: ByteWriter, cells: RowCells, old: RowCells | undefined): void {
    if (this.#columns.length === 0) out.text('{');
    this.#row(out, this.#columns, cells, old);
    out.reserve(1);
    out.byte(CLOSE_BRACE);
  }

  #row(out: ByteWriter, columns: readonly JsonColumn[], cells: RowCells, old: RowCells | undefined): void {
    for (const { index, start, ifNull, ifUnchanged, write } of columns) {
      put(out, start);
      if (cells.isNull(index)) put(out, ifNull);
      else if (!cells.isUnchanged(index)) write(out, cells, index);
      else if (old === undefined || old.isUnchanged(index)) put(out, ifUnchanged);
      else if (old.isNull(index)) put(out, ifNull);
      else write(out, old, index);
    }
  }

  #sourceText(origin: TransactionOrigin): SourceText {
    if (this.#source?.origin !== origin) this.#source = sourceText(origin, this.#place, this.#json, this.topic);
    return this.#source;
  }

  /** The JSON of the two fields after `source`: `transaction`, which is null, and `op`. */
  #tail(operation: Operation): Buffer {
    const { tails } = this.#envelope;
    let tail = tails.get(operation);
    if (tail === undefined) {
      const fields = this.#table.envelope.fields.slice(3, 5);
      const values = [null, operation];
      tail = Buffer.concat(
        fields.flatMap(({ name, schema }, at) => [
          Buffer.from(`,${JSON.stringify(name)}:`),
          this.#json.value(this.topic, schema, values[at] ?? null),
        ]),
      );
      tails.set(operation, tail);
    }
    return tail;
  }

  #timesText(): Buffer {
    const ms = Date.now();
    if (ms !== this.#times.ms) {
      const fields = this.#table.envelope.fields.slice(5);
      const values = envelopeTimes();
      const parts = fields.flatMap(({ name, schema }, at) => [
        Buffer.from(`,${JSON.stringify(name)}:`),
        this.#json.value(this.topic, schema, values[at] ?? null),
      ]);
      this.#times = { ms, text: Buffer.concat([...parts, Buffer.from('}')]) };
    }
    return this.#times.text;
  }
}

const BEFORE = Buffer.from('{"before":');
const AFTER = Buffer.from(',"after":');
const SOURCE = Buffer.from(',"source":');

/** The most digits of a safe integer, and its sign. */
const MOST_DIGITS = 17;

function writeLsn(out: ByteWriter, lsn: bigint): void {
  const number = Number(lsn);
  if (!Number.isSafeInteger(number)) {
    out.text(String(lsn));
    return;
  }
  out.reserve(MOST_DIGITS);
  out.integer(number);
}

function put(out: ByteWriter, bytes: Uint8Array): void {
  out.reserve(bytes.length);
  out.put(bytes);
}

/** The JSON of `source` in three parts. The LSN of the change is written between the parts, because `sequence` and `lsn` contain it. */
interface SourceText {
  readonly origin: TransactionOrigin;
  readonly start: Buffer;
  readonly middle: Buffer;
  readonly end: Buffer;
}

function sourceText(origin: TransactionOrigin, place: RowTable, json: JsonEncoding, topic: string): SourceText {
  const { schema, values } = sourceOf({ ...origin, lsn: 0n }, place);
  const texts = schema.fields.map(({ name, schema: fieldSchema, index }) => {
    const start = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    const value = Buffer.from(json.value(topic, fieldSchema, values[index] ?? null)).toString('utf8');
    // `sequence` is a JSON array within a string, so its quotes are escaped. It ends with the LSN of the change: `[…,"0"]`.
    return name === 'sequence'
      ? [start + value.slice(0, -'0\\"]"'.length), '\\"]"']
      : [name === 'lsn' ? start : start + value];
  });
  const sequence = texts.findIndex((parts) => parts.length > 1);
  const lsn = schema.fields.findIndex(({ name }) => name === 'lsn');
  const join = (from: number, to: number): string =>
    texts
      .slice(from, to)
      .map((parts) => parts.join(''))
      .join('');
  return {
    origin,
    start: Buffer.from(join(0, sequence) + (texts[sequence]?.[0] ?? '')),
    middle: Buffer.from((texts[sequence]?.[1] ?? '') + join(sequence + 1, lsn + 1)),
    end: Buffer.from(`${join(lsn + 1, texts.length)}}`),
  };
}

type Encode = (schema: Schema, data: ConnectValue) => Uint8Array;

const NAME = new Schema('string');

function fieldStart(schema: Schema | null, at: number, encode: Encode): Buffer {
  const name = encode(NAME, schema?.fields[at]?.name ?? '');
  return Buffer.concat([Buffer.from(at === 0 ? '{' : ','), name, Buffer.from(':')]);
}

function jsonColumn(column: RecordColumn, schema: Schema, encode: Encode, start: Buffer): JsonColumn {
  const { index, rule, missing, mask } = column;
  return {
    index,
    start,
    ifNull: encode(schema, masked(missing, mask)),
    ifUnchanged: encode(schema, masked(rule.placeholder(schema), mask)),
    write: writerOf(column, schema, encode),
  };
}

type Mask = RecordColumn['mask'];

function masked(value: ConnectValue, mask: Mask): ConnectValue {
  return mask === undefined ? value : mask(value);
}

function writerOf({ name, rule, mask }: RecordColumn, schema: Schema, encode: Encode): WriteCell {
  const convert: WriteCell = (out, cells, index) => {
    try {
      put(out, encode(schema, masked(rule.read(cells.text(index), schema), mask)));
    } catch (error) {
      throw new Error(`Column ${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  };
  const { writeText } = rule;
  if (mask !== undefined || writeText === undefined) return convert;
  return (out, cells, index) => {
    if (!writeText(out, cells.bytes, cells.start(index), cells.end(index))) convert(out, cells, index);
  };
}
