import { BoundedMap } from '../../../../src/data/bounded-map.ts';
import type { Fault, Origin } from '../../../../src/data/fault.ts';
import type { MessageBlock } from '../../../../src/data/message-block.ts';
import { RowBatchBuilder, type OpenColumn } from '../../../../src/data/row-batch-builder.ts';
import type { TableShape } from '../../../../src/data/table-shape.ts';
import { standsAt, ownText } from '../../../../src/data/repeated-texts.ts';
import { BlockText } from '../../../../src/data/block-text.ts';
import { messageText, shown } from '../message-text.ts';
import type { Decoded, Decoder, DecodedRows, Precision } from '../format.ts';
import { JsonCellReader, type TimestampsAs } from './json-db-cells.ts';
import { columnOfValue, MAX_COLUMNS, type JsonDbColumn, type JsonDbTable } from './json-db-columns.ts';
import { notJson, readEnvelope, type JsonDbEnvelope } from './json-db-envelope.ts';
import { JsonCursor } from '../../../../src/json/json-cursor.ts';

export interface JsonDbPolicy {
  /** Unit of integer timestamps; default `ms`, per the specification. */
  readonly precision?: Precision | undefined;
  /** Default `either`. Per the specification, time-series databases use integers and relational ones strings. */
  readonly timestampsAs?: TimestampsAs | undefined;
  /**
   * Determines what happens to a key that is neither a column nor a tag; default `fault`. `add` adds a column with the
   * type of its first value.
   */
  readonly unknownKeys?: 'fault' | 'ignore' | 'add' | undefined;
  /** Determines whether a table without tags gets its own name as primary tag; default `table-name`. */
  readonly tagsWhenAbsent?: 'table-name' | 'none' | undefined;
}

/**
 * Number of cached table descriptions. A message is compared with them before it is parsed; topics rarely contain more
 * tables.
 */
const REMEMBERED_ENVELOPES = 16;
/** Cache size for table shapes, so that equal tables share a shape object. */
const REMEMBERED_TABLES = 1_000;

/** Each invalid row of a message gets its own fault. With more invalid rows than this, the whole message is refused. */
const MAX_FAULTS_PER_MESSAGE = 10_000;
/**
 * Limits for the cells of a message, of which the larger one applies. Absent keys become nulls, so a short message
 * could produce many cells.
 */
const MAX_CELLS_PER_MESSAGE = 4_000_000;
const MAX_CELLS_PER_CHARACTER = 8;

/** A key of a row object as spelled in the last row, with its colon, and the index of its column (-1 for none). */
interface RowKey {
  readonly text: string;
  readonly name: string;
  readonly column: number;
}

/**
 * A cached envelope, and the open batch for its rows. The columns of the batch are in the order of the table's columns.
 */
interface KnownEnvelope extends JsonDbEnvelope {
  /** True if the prefix is ASCII, so that it can be compared in a block. */
  readonly isAscii: boolean;
  readonly keys: RowKey[];
  open: OpenRows | undefined;
}

interface BatchColumn {
  readonly described: JsonDbColumn;
  readonly filled: OpenColumn;
}

interface OpenRows {
  readonly table: JsonDbTable;
  readonly rows: RowBatchBuilder;
  readonly columns: readonly BatchColumn[];
  /** Columns that the message does not describe. */
  readonly added: Map<string, BatchColumn>;
  readonly nameTag: OpenColumn | undefined;
  /** False once the table has a later batch, for rows of another shape. */
  current: boolean;
}

/**
 * Decodes json_db (docs/formats.md#json_db). Each message is a JSON object that describes a table and contains rows.
 * The description is compared with recent ones as text, and only the rows are parsed, directly into columns and without
 * rounding integers and decimals. A message that is not JSON or does not describe a table is a single fault and
 * produces no rows; an invalid row is a separate fault. If the description of a table changes, its rows go to a new
 * batch, in order. Every method continues at the current position of the same text, which would take time to pass on.
 */
export class JsonDbDecoder implements Decoder {
  readonly #unknownKeys: 'fault' | 'ignore' | 'add';
  readonly #tagsWhenAbsent: 'table-name' | 'none';
  readonly #cursor = new JsonCursor();
  readonly #blockText = new BlockText();
  readonly #cells: JsonCellReader;
  readonly #envelopes: KnownEnvelope[] = [];
  readonly #tables = new BoundedMap<string, JsonDbTable>(REMEMBERED_TABLES);
  readonly #openByTable = new Map<string, OpenRows>();
  #batches: OpenRows[] = [];
  #faults: Fault[] = [];
  #rowCount = 0;
  /** Describes which limit the last message exceeded. */
  #excess = '';
  #messageLength = 0;

  constructor(policy: JsonDbPolicy = {}) {
    this.#unknownKeys = policy.unknownKeys ?? 'fault';
    this.#tagsWhenAbsent = policy.tagsWhenAbsent ?? 'table-name';
    this.#cells = new JsonCellReader(this.#cursor, policy.precision ?? 'ms', policy.timestampsAs ?? 'either');
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  add(message: string | Uint8Array, origin: Origin): void {
    const { text, valid } = messageText(message);
    const known = valid ? this.#envelopes.find(({ prefix }) => standsAt(text, prefix, 0)) : undefined;
    if (known !== undefined && this.#readRows(known, text, origin) === undefined) return;
    const problem = valid ? this.#readUnknown(text, origin) : 'the message is not UTF-8';
    if (problem === undefined) return;
    this.#faults.push({ scope: 'record', message: `json_db: ${problem}`, origin });
  }

  /** Adds messages with a cached description whose rows are all valid. */
  addBlock(block: MessageBlock, from: number, to: number): number {
    const blockText = this.#blockText;
    let known: KnownEnvelope | undefined;
    let index = from;
    for (; index < to; index++) {
      blockText.open(block, index);
      const start = blockText.start(index);
      const end = blockText.end(index);
      if (end <= start) break;
      const { text } = blockText;
      if (known === undefined || !standsAt(text, known.prefix, start)) known = this.#knownAt(text, start);
      if (known === undefined || !blockText.isAscii(index, known.prefix.length)) break;
      if (!this.#readRowsOf(block, index, known, start, end)) break;
    }
    return index;
  }

  #knownAt(text: string, start: number): KnownEnvelope | undefined {
    return this.#envelopes.find(({ prefix, isAscii }) => isAscii && standsAt(text, prefix, start));
  }

  /** Returns false, without adding anything, if the message has to be read individually. */
  #readRowsOf(block: MessageBlock, index: number, envelope: KnownEnvelope, start: number, end: number): boolean {
    const open = this.#openRows(envelope);
    const rowsBefore = open.rows.rowCount;
    const faultsBefore = this.#faults.length;
    const cursor = this.#cursor;
    this.#excess = '';
    this.#messageLength = end - start;
    cursor.open(this.#blockText.text, start + envelope.prefix.length);
    cursor.skipSpace();
    const read = this.#rows(envelope, open, { block, index });
    const { suffix } = envelope;
    if (
      read &&
      this.#faults.length === faultsBefore &&
      cursor.position + suffix.length === end &&
      standsAt(cursor.text, suffix, cursor.position)
    ) {
      this.#rowCount += open.rows.rowCount - rowsBefore;
      return true;
    }
    open.rows.truncate(rowsBefore);
    this.#faults.length = faultsBefore;
    return false;
  }

  take(): Decoded {
    const rows: DecodedRows[] = this.#batches
      .filter((batch) => batch.rows.rowCount > 0)
      .map((batch) => ({ shape: shapeOf(batch), batch: batch.rows.build(), nameTag: batch.nameTag?.name }));
    const faults = this.#faults;
    for (const envelope of this.#envelopes) envelope.open = undefined;
    this.#blockText.close();
    this.#openByTable.clear();
    this.#batches = [];
    this.#faults = [];
    this.#rowCount = 0;
    return { rows, faults };
  }

  /** Reads a message whose description is not cached. */
  #readUnknown(text: string, origin: Origin): string | undefined {
    this.#cursor.open(text);
    const read = readEnvelope(this.#cursor, this.#tagsWhenAbsent);
    if (typeof read === 'string') return read;
    const envelope: KnownEnvelope = {
      table: this.#sameTable(read.table),
      prefix: ownText(read.prefix),
      suffix: ownText(read.suffix),
      isAscii: Buffer.byteLength(read.prefix) === read.prefix.length,
      keys: [],
      open: undefined,
    };
    this.#envelopes.unshift(envelope);
    if (this.#envelopes.length > REMEMBERED_ENVELOPES) this.#envelopes.pop();
    return this.#readRows(envelope, text, origin);
  }

  #sameTable(table: JsonDbTable): JsonDbTable {
    const key = `${table.name}\0${table.signature}`;
    return this.#tables.getOrCreate(key, () => table);
  }

  /** Reads the rows after the envelope's prefix; on errors, no row is kept. */
  #readRows(envelope: KnownEnvelope, text: string, origin: Origin): string | undefined {
    const open = this.#openRows(envelope);
    const rowsBefore = open.rows.rowCount;
    const faultsBefore = this.#faults.length;
    this.#excess = '';
    this.#messageLength = text.length;
    this.#cursor.open(text, envelope.prefix.length);
    this.#cursor.skipSpace();
    if (this.#rows(envelope, open, origin) && this.#endsWith(envelope.suffix)) {
      this.#rowCount += open.rows.rowCount - rowsBefore;
      return undefined;
    }
    open.rows.truncate(rowsBefore);
    this.#faults.length = faultsBefore;
    return this.#excess === '' ? notJson(this.#cursor) : this.#excess;
  }

  #endsWith(suffix: string): boolean {
    const { text, position } = this.#cursor;
    return position + suffix.length === text.length && standsAt(text, suffix, position);
  }

  #openRows(envelope: KnownEnvelope): OpenRows {
    const { table } = envelope;
    if (envelope.open?.current === true) return envelope.open;
    let open = this.#openByTable.get(table.name);
    if (open?.table !== table) {
      if (open !== undefined) open.current = false;
      open = openRows(table);
      this.#batches.push(open);
      this.#openByTable.set(table.name, open);
    }
    envelope.open = open;
    return open;
  }

  /** Reads all rows up to the closing bracket; returns false if the text is not JSON or a limit is exceeded. */
  #rows(envelope: KnownEnvelope, open: OpenRows, source: Origin | BlockPosition): boolean {
    const cursor = this.#cursor;
    if (cursor.atArrayEnd()) return true;
    const faultsBefore = this.#faults.length;
    let index = 0;
    do {
      index++;
      if (this.#exceeds(index * open.columns.length, this.#faults.length - faultsBefore)) return false;
      const problem = cursor.peek() === 'object' ? this.#row(envelope, open) : this.#notRow();
      if (problem === undefined) return false;
      if (problem === NO_PROBLEM) {
        if ('block' in source) open.rows.endRowOf(source.block, source.index);
        else open.rows.endRow(source, 0);
        continue;
      }
      open.rows.abandonRow();
      const only = index === 1 && this.#lastRow();
      const where = only ? '' : `row ${String(index)} of the message: `;
      this.#faults.push({
        scope: 'record',
        message: `json_db: ${where}${problem.text}`,
        origin: 'block' in source ? undefined : source,
        table: open.table.name,
        column: problem.column,
      });
    } while (cursor.takeComma());
    return cursor.atArrayEnd();
  }

  #exceeds(cells: number, faults: number): boolean {
    if (faults > MAX_FAULTS_PER_MESSAGE) {
      this.#excess = `more than ${String(MAX_FAULTS_PER_MESSAGE)} rows of the message are invalid`;
    } else if (cells > Math.max(MAX_CELLS_PER_MESSAGE, this.#messageLength * MAX_CELLS_PER_CHARACTER)) {
      this.#excess = 'the rows of the message have values for only a few of its columns; describe fewer columns';
    }
    return this.#excess !== '';
  }

  #lastRow(): boolean {
    this.#cursor.skipSpace();
    return this.#cursor.atArrayEnd();
  }

  #notRow(): RowProblem | undefined {
    const kind = this.#cursor.peek();
    return this.#cursor.value()
      ? { text: `a row must be an object, not ${String(kind)}`, column: undefined }
      : undefined;
  }

  /** Reads a row's cells into the open row; returns `undefined` if the text is not JSON. */
  #row(envelope: KnownEnvelope, open: OpenRows): RowProblem | undefined {
    const cursor = this.#cursor;
    let problem = NO_PROBLEM;
    cursor.openObject();
    if (!cursor.closeObject()) {
      let index = 0;
      do {
        const key = this.#key(envelope, index++);
        if (key === undefined) return undefined;
        const found = this.#cell(open, key);
        if (found === undefined) return undefined;
        if (problem === NO_PROBLEM) problem = found;
      } while (cursor.takeComma());
      if (!cursor.closeObject()) return undefined;
    }
    if (problem === NO_PROBLEM) fillNameTag(open);
    return problem;
  }

  /** Reads a key and its colon; returns `undefined` if the text is not JSON. */
  #key(envelope: KnownEnvelope, index: number): RowKey | undefined {
    const cursor = this.#cursor;
    const expected = envelope.keys[index];
    if (expected !== undefined && cursor.takeText(expected.text)) {
      cursor.skipSpace();
      return expected;
    }
    const start = cursor.position;
    const name = cursor.string();
    if (name === undefined || !cursor.takeColon()) return undefined;
    const text = cursor.text.slice(start, cursor.position);
    const key = { text: ownText(text), name: ownText(name), column: envelope.table.indexes.get(name) ?? -1 };
    if (index < envelope.table.columns.length) envelope.keys[index] = key;
    return key;
  }

  /** Reads a value into its column; returns `undefined` if the text is not JSON. */
  #cell(open: OpenRows, key: RowKey): RowProblem | undefined {
    const cursor = this.#cursor;
    const column = open.columns[key.column] ?? this.#addedColumn(open, key);
    if (column === undefined) {
      const isNull = cursor.peek() === 'null';
      if (!cursor.value()) return undefined;
      if (this.#unknownKeys === 'ignore' || (this.#unknownKeys === 'add' && isNull)) return NO_PROBLEM;
      return { text: `the key ${shown(key.name)} is neither a column nor a tag`, column: key.name };
    }
    const { described, filled } = column;
    const cell = this.#cells.read(described);
    if (cell === undefined) {
      if (this.#cells.problem === '' || !cursor.value()) return undefined;
      return { text: this.#cells.problem, column: described.name };
    }
    if (filled.cells.length > open.rows.rowCount) return { text: 'the key occurs twice', column: described.name };
    filled.cells.push(cell);
    return NO_PROBLEM;
  }

  /** Returns the column of a key that the message does not describe. It is created for the first value. */
  #addedColumn(open: OpenRows, { name }: RowKey): BatchColumn | undefined {
    if (this.#unknownKeys !== 'add') return undefined;
    const known = open.added.get(name);
    if (known !== undefined || open.rows.columns.length >= MAX_COLUMNS) return known;
    const described = columnOfValue(name, this.#cursor.peek());
    if (described === undefined) return undefined;
    const column = { described, filled: open.rows.addColumn(name, described.role, described.kind) };
    open.added.set(name, column);
    return column;
  }
}

/** Returns the shape, including the added columns that have values. */
function shapeOf({ table: { shape }, added }: OpenRows): TableShape {
  const filled = [...added.values()].filter(({ filled: { cells } }) => cells.some((cell) => cell !== null));
  return filled.length === 0
    ? shape
    : { ...shape, columns: [...shape.columns, ...filled.map(({ described }) => described)] };
}

/** A record of a block. If one of the record's rows is invalid, the whole record is read individually. */
interface BlockPosition {
  readonly block: MessageBlock;
  readonly index: number;
}

interface RowProblem {
  readonly text: string;
  readonly column: string | undefined;
}

const NO_PROBLEM: RowProblem = { text: '', column: undefined };

function openRows(table: JsonDbTable): OpenRows {
  const rows = new RowBatchBuilder({ name: table.name });
  const columns = table.columns.map((described) => ({
    described,
    filled: rows.addColumn(described.name, described.role, described.kind),
  }));
  const nameTag = columns.find(({ described }) => described.isNameTag)?.filled;
  return { table, rows, columns, added: new Map(), nameTag, current: true };
}

/** Fills in the table's name if a row has no value for the name tag. */
function fillNameTag({ nameTag, rows, table }: OpenRows): void {
  if (nameTag !== undefined && nameTag.cells.length === rows.rowCount) nameTag.cells.push(table.name);
}
