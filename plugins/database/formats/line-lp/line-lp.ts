import type { Fault, Origin } from '../../../../src/data/fault.ts';
import type { MessageBlock } from '../../../../src/data/message-block.ts';
import type { RowBatchBuilder } from '../../../../src/data/row-batch-builder.ts';
import { BlockText } from '../../../../src/data/block-text.ts';
import { admit } from '../cell-kinds.ts';
import { messageText, shown } from '../message-text.ts';
import type { Decoded, Decoder, Precision } from '../format.ts';
import { KnownLineReader } from './line-known.ts';
import { LineScanner, type ScannedLine, type StringEscapes } from './line-scan.ts';
import { bindable, LineBatch, type LineShape, type LineTable, type Series, type TagKeys } from './line-table.ts';
import { KIND_OF_LINE_TYPE } from './line-value.ts';
import { ownText } from '../../../../src/data/repeated-texts.ts';
import { messageParts } from '../message-parts.ts';
import { NANOS_COLUMN, nanosBeyondMicros } from '../nanoseconds.ts';
import { PRIMARY_TAG, PrimaryTags } from '../primary-tag.ts';
import { floorTo, unixMicros } from '../unix-time.ts';

export interface LineLpPolicy {
  /** Unit of the timestamps. */
  readonly precision: Precision;
  /**
   * Returns the time, in microseconds since the epoch, of lines without a timestamp. Called at most once per message;
   * the result is rounded down to the precision, so such lines with the same tag set in a message share a key.
   */
  readonly now: () => number;
  /**
   * Name of the batch's time column; default `k_timestamp`. Tags and fields must not have this name. The table's time
   * column is found by its role.
   */
  readonly timeColumn?: string | undefined;
  /**
   * True if rows of this table get a column `primary_tag` derived from their tags (docs/formats.md#the-primary-tag),
   * unless the line has one; called once per table and batch. Default: never.
   */
  readonly derivesPrimaryTag?: ((table: string) => boolean) | undefined;
  /** Escapes in `"…"`; default `standard`. Single-quoted strings and `L"…"` always have the documented escapes. */
  readonly stringEscapes?: StringEscapes | undefined;
  /** True if rows get a column `k_nanos` with the nanoseconds within the microsecond; default false. */
  readonly keepsNanoseconds?: boolean | undefined;
  /** True if `take` describes the tables that the rows need (`DecodedRows.shape`); default false. */
  readonly describesTables?: boolean | undefined;
}

/** Limits for the tag sets and line shapes that are cached between messages. */
const MAX_SERIES = 20_000;
const MAX_SHAPES = 1_000;
/** After this many invalid lines, the rest of a message is not read: a fault takes more memory than a short line. */
const MAX_FAULTS_PER_MESSAGE = 10_000;

/**
 * Decodes line protocol (docs/formats.md#line_lp). A message contains one or more lines, each line is a row, and rows
 * of a table share a batch. Fields that a line does not have are null. If a value does not fit the open batch (text
 * after numbers, a field that was a tag), this row and all later rows go to a second batch of the same table, so that
 * the rows of a table stay in order.
 */
export class LineLpDecoder implements Decoder {
  readonly #policy: LineLpPolicy;
  readonly #timeColumn: string;
  readonly #scanner: LineScanner;
  readonly #known: KnownLineReader;
  readonly #blockText = new BlockText();
  readonly #series = new Map<string, Series>();
  readonly #tables = new Map<string, LineTable>();
  readonly #primaryTags = new PrimaryTags();
  #shapes = 0;
  #batches: LineBatch[] = [];
  #faults: Fault[] = [];
  #rowCount = 0;
  #now: number | undefined;
  #faultsLeft = 0;
  #more = false;
  #unreadLine: number | undefined;

  constructor(policy: LineLpPolicy) {
    this.#policy = policy;
    this.#timeColumn = policy.timeColumn ?? 'k_timestamp';
    this.#scanner = new LineScanner(policy.stringEscapes);
    this.#known = new KnownLineReader(this.#scanner, this.#series, policy.precision);
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  add(message: string | Uint8Array, origin: Origin): void {
    this.#open(message);
    while (this.#nextLine(origin));
  }

  /**
   * Adds messages that consist of one line each, with a timestamp and with known tag names and fields. Stops at the
   * first other message, which must be passed to `add`.
   */
  addBlock(block: MessageBlock, from: number, to: number): number {
    const blockText = this.#blockText;
    let index = from;
    for (; index < to; index++) {
      blockText.open(block, index);
      if (this.#scanner.text !== blockText.text) this.#scanner.open(blockText.text, true);
      const end = blockText.end(index);
      this.#scanner.position = blockText.start(index);
      if (end <= this.#scanner.position || !blockText.isAscii(index)) break;
      this.#known.openTo(end);
      const batch = this.#known.read(undefined) ?? (this.#learnSeries() ? this.#known.read(undefined) : undefined);
      if (batch === undefined) break;
      if (this.#scanner.position !== end) {
        batch.abandonRow();
        break;
      }
      batch.endRowOf(block, index);
      this.#rowCount++;
    }
    return index;
  }

  /**
   * Adds a message and yields its rows in parts of about `maxRows`, so that a large message is never completely in
   * memory as columns (message-parts.ts). The last part may be empty. Nothing else may be added meanwhile.
   *
   * With `more`, further text of the message follows; this text must end at the end of a line. If a string is not
   * closed in this text, its line and all following lines are not read; see `unreadLine`.
   */
  *addInParts(
    message: string | Uint8Array,
    origin: Origin,
    maxRows: number,
    more = false,
  ): Generator<Decoded, void, undefined> {
    this.#open(message);
    this.#more = more;
    const reader = { next: () => this.#nextLine(origin), position: () => this.#scanner.position };
    yield* messageParts(reader, this, maxRows);
    yield this.take();
  }

  /** Number of lines before the first line that `addInParts` left unread because of an unclosed string, if any. */
  get unreadLine(): number | undefined {
    return this.#unreadLine;
  }

  #open(message: string | Uint8Array): void {
    this.#more = false;
    this.#unreadLine = undefined;
    const { text, valid } = messageText(message);
    this.#scanner.open(text, valid);
    this.#known.open();
    this.#now = undefined;
    this.#faultsLeft = MAX_FAULTS_PER_MESSAGE;
  }

  /** Returns false at the end of the message, and if the rest of the message must not be read. */
  #nextLine(origin: Origin): boolean {
    const { position, linesBefore, text } = this.#scanner;
    if (position >= text.length) return false;
    const batch = this.#known.read(this.#time) ?? (this.#learnSeries() ? this.#known.read(this.#time) : undefined);
    if (batch === undefined) return this.#scanLine(origin);
    this.#endRow(batch, origin, linesBefore);
    return true;
  }

  take(): Decoded {
    const filled = this.#batches.filter((batch) => batch.rows.rowCount > 0);
    const rows = filled.map((batch) => ({
      batch: batch.rows.build(),
      shape: this.#policy.describesTables === true ? batch.shape() : undefined,
    }));
    const faults = this.#faults;
    for (const table of this.#tables.values()) table.open = undefined;
    this.#blockText.close();
    this.#batches = [];
    this.#faults = [];
    this.#rowCount = 0;
    if (this.#shapes > MAX_SHAPES || this.#tables.size > MAX_SHAPES) this.#forget();
    return { rows, faults };
  }

  #forget(): void {
    this.#forgetSeries();
    this.#tables.clear();
    this.#shapes = 0;
  }

  readonly #time = (): number => {
    this.#now ??= floorTo(this.#policy.precision, this.#policy.now());
    return this.#now;
  };

  #endRow(batch: RowBatchBuilder, origin: Origin, linesBefore: number): void {
    batch.endRow(origin, linesBefore);
    this.#rowCount++;
  }

  /**
   * Caches the tag set of the next line if the set is new and other lines with the same tag names are in the open
   * batch. The fields of the line are then probably known as well. Returns false if nothing was cached.
   */
  #learnSeries(): boolean {
    if (!this.#scanner.peekSeries()) return false;
    const { line } = this.#scanner;
    const shape = this.#tables.get(line.measurement)?.tagKeys.get(line.tagKeys.join('\0'))?.latest;
    if (shape?.batch === undefined || this.#series.has(this.#seriesText(line))) return false;
    const series = this.#seriesOf(line);
    series.shape = shape;
    if (shape.derivedTag !== undefined) series.primaryTag = this.#primaryTags.of(line.tagKeys, line.tagValues);
    this.#remember(series);
    return true;
  }

  #seriesText(line: ScannedLine): string {
    return this.#scanner.text.slice(line.start, line.seriesEnd);
  }

  /** Parses a line; returns false at the end of the text, and if the message had too many faults. */
  #scanLine(origin: Origin): boolean {
    const read = this.#scanner.next();
    if (read === 'end') return false;
    const { line } = this.#scanner;
    if (read === 'fault' && this.#more && !this.#scanner.stringsClosed) {
      this.#unreadLine = line.linesBefore;
      return false;
    }
    const problem = read === 'fault' ? this.#scanner.problem : this.#addLine(line, origin);
    if (problem === undefined) return true;
    if (this.#faultsLeft-- > 0) {
      this.#faults.push(this.#fault(problem, line, origin));
      return true;
    }
    const stopped = `stopped after ${String(MAX_FAULTS_PER_MESSAGE)} invalid lines; this line and all following lines were not read`;
    this.#faults.push(this.#fault(stopped, line, origin));
    return false;
  }

  #fault(problem: string, line: ScannedLine, origin: Origin): Fault {
    const table = line.measurement === '' ? undefined : line.measurement;
    if (origin.kind === 'line') {
      const message = `line protocol: ${problem}`;
      return { scope: 'record', message, origin: { kind: 'line', line: origin.line + line.linesBefore }, table };
    }
    const end = this.#scanner.text.indexOf('\n');
    const several = end >= 0 && end < this.#scanner.text.length - 1;
    const where = several ? `, line ${String(line.linesBefore + 1)} of the message` : '';
    return { scope: 'record', message: `line protocol${where}: ${problem}`, origin, table };
  }

  /** Adds a parsed line; returns a description of the problem if it is not a valid row. */
  #addLine(line: ScannedLine, origin: Origin): string | undefined {
    const micros =
      line.time === undefined ? this.#time() : unixMicros(line.time, 0, line.time.length, this.#policy.precision);
    if (micros === undefined) return `the timestamp ${line.time ?? ''} is out of range for ${this.#policy.precision}`;
    const series = this.#seriesOf(line);
    const shape = shapeOf(line, series.tagKeys);
    if (shape === undefined) {
      const duplicate = this.#duplicateName(line);
      if (duplicate !== undefined) return duplicate;
    }
    const usable = shape ?? this.#newShape(line, series.tagKeys);
    series.shape = usable;
    series.tagKeys.latest = usable;
    this.#remember(series);
    const batch = this.#pushRow(usable, line, series, micros);
    if (batch === undefined) return `a field cannot have the name ${shown(PRIMARY_TAG)} in this table`;
    this.#endRow(batch, origin, line.linesBefore);
    return undefined;
  }

  #seriesOf(line: ScannedLine): Series {
    const known = this.#series.get(this.#seriesText(line));
    if (known !== undefined) return known;
    let table = this.#tables.get(line.measurement);
    if (table === undefined) {
      table = { name: ownText(line.measurement), tagKeys: new Map(), open: undefined };
      this.#tables.set(table.name, table);
    }
    const names = line.tagKeys.join('\0');
    let tagKeys = table.tagKeys.get(names);
    if (tagKeys === undefined) {
      tagKeys = { names: line.tagKeys.map(ownText), shapes: new Map(), latest: undefined };
      table.tagKeys.set(ownText(names), tagKeys);
      this.#shapes++;
    }
    return {
      text: ownText(this.#seriesText(line)),
      next: undefined,
      table,
      tagKeys,
      tagValues: line.tagValues.map(ownText),
      primaryTag: undefined,
      shape: undefined,
    };
  }

  #remember(series: Series): void {
    if (this.#series.size >= MAX_SERIES) this.#forgetSeries();
    this.#series.set(series.text, series);
  }

  #forgetSeries(): void {
    this.#series.clear();
    this.#known.forget();
  }

  #duplicateName(line: ScannedLine): string | undefined {
    const names = new Set([this.#timeColumn]);
    for (const name of [...line.tagKeys, ...line.fieldKeys]) {
      if (this.#policy.keepsNanoseconds === true && name === NANOS_COLUMN) {
        return `${shown(name)} is the nanoseconds column and cannot be a tag or a field`;
      }
      if (names.has(name)) {
        return name === this.#timeColumn
          ? `${shown(name)} is the time column's name and cannot be a tag or a field`
          : `multiple assignments to the same column ${shown(name)}`;
      }
      names.add(name);
    }
    return undefined;
  }

  #newShape(line: ScannedLine, tagKeys: TagKeys): LineShape {
    const fields = line.fieldKeys.map((key, index) => ({
      key: ownText(key),
      text: ownText(fieldText(line, this.#scanner.text, index)),
      type: line.fieldValues[index]?.type ?? 'VARCHAR',
      column: undefined,
    }));
    const shape = {
      tagKeys,
      fields,
      batch: undefined,
      time: undefined,
      nanos: undefined,
      tags: [],
      derivedTag: undefined,
      givenRows: undefined,
    };
    tagKeys.shapes.set(fields.map((field) => field.key).join('\0'), shape);
    this.#shapes++;
    return shape;
  }

  /** Adds the line to the table's open batch, or to a new one; returns `undefined` if it fits neither. */
  #pushRow(shape: LineShape, line: ScannedLine, series: Series, micros: number | bigint): RowBatchBuilder | undefined {
    const { table } = series;
    let open = table.open ?? this.#openBatch(table);
    if (!bindable(shape, open.rows, line)) open = this.#openBatch(table);
    if (!bindable(shape, open.rows, line)) return undefined;
    this.#bind(shape, open, line);
    shape.time?.cells.push(micros);
    shape.nanos?.cells.push(nanosBeyondMicros(line.time ?? '', 0, line.time?.length ?? 0, this.#policy.precision));
    for (const [index, tag] of shape.tags.entries()) tag.cells.push(series.tagValues[index] ?? null);
    shape.givenRows?.push(open.rows.rowCount);
    if (shape.derivedTag !== undefined) {
      series.primaryTag = this.#primaryTags.of(shape.tagKeys.names, series.tagValues);
      shape.derivedTag.cells.push(series.primaryTag);
    }
    return open.rows;
  }

  #openBatch(table: LineTable): LineBatch {
    const derives = this.#policy.derivesPrimaryTag?.(table.name) ?? false;
    const keepsNanoseconds = this.#policy.keepsNanoseconds ?? false;
    const batch = new LineBatch(table.name, this.#timeColumn, { derivesPrimaryTag: derives, keepsNanoseconds });
    this.#batches.push(batch);
    table.open = batch;
    return batch;
  }

  /** Finds or adds the columns of the line and pushes its field values. */
  #bind(shape: LineShape, open: LineBatch, line: ScannedLine): void {
    const { rows } = open;
    for (const [index, field] of shape.fields.entries()) {
      const value = line.fieldValues[index];
      if (value === undefined) continue;
      const kind = KIND_OF_LINE_TYPE[value.type];
      const column = rows.column(field.key) ?? rows.addColumn(field.key, 'data', kind);
      column.cells.push(admit(column, kind, value.cell));
      open.recordType(field.key, value.type);
      field.type = value.type;
      field.column = column;
    }
    shape.tags = shape.tagKeys.names.map(
      (name) => rows.column(name) ?? rows.addColumn(name, name === PRIMARY_TAG ? 'primary-tag' : 'tag', 'text'),
    );
    shape.time = rows.column(this.#timeColumn);
    shape.nanos = this.#policy.keepsNanoseconds === true ? rows.column(NANOS_COLUMN) : undefined;
    const primary = open.derivesPrimaryTag ? rows.column(PRIMARY_TAG) : undefined;
    const isGiven = primary !== undefined && shape.tags.includes(primary);
    shape.derivedTag = isGiven ? undefined : primary;
    shape.givenRows = isGiven ? primary.given : undefined;
    shape.batch = rows;
  }
}

function shapeOf(line: ScannedLine, tagKeys: TagKeys): LineShape | undefined {
  return tagKeys.shapes.get(line.fieldKeys.join('\0'));
}

/** Returns the key of a field as written in the line, including `=`. */
function fieldText(line: ScannedLine, text: string, index: number): string {
  return text.slice(line.fieldStarts[index] ?? 0, line.fieldValueStarts[index] ?? 0);
}
