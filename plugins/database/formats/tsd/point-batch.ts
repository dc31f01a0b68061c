import type { Origin } from '../../../../src/data/fault.ts';
import type { Cell, CellKind } from '../../../../src/data/row-batch.ts';
import { RowBatchBuilder, type DerivedColumn, type OpenColumn } from '../../../../src/data/row-batch-builder.ts';
import { admit } from '../cell-kinds.ts';
import { NANOS_COLUMN } from '../nanoseconds.ts';
import { PRIMARY_TAG } from '../primary-tag.ts';
import { MAX_TAGS, type TagKeys, type TagSet } from '../tag-sets.ts';
import { cellAsText } from './tsd-number.ts';

type Value = Exclude<Cell, null>;

/** A value of a metric at a point in time. */
export interface Point {
  metric: string;
  tags: TagSet;
  /** Microseconds since the epoch. */
  micros: number | bigint;
  /** Nanoseconds within the microsecond, 0 to 999. */
  nanos: number;
  value: Value;
  kind: CellKind;
}

/** The points of a metric as rows: time, nanoseconds if they are kept, value, primary tag, tags. */
export class PointBatch {
  readonly rows: RowBatchBuilder;
  readonly value: OpenColumn;
  /** Kind of the first value, even if the column has been converted since. */
  firstKind: CellKind | undefined;
  /** Tag sets with a value that exceeds the default VARCHAR length. */
  readonly longTags = new Set<TagSet>();
  readonly #time: OpenColumn;
  readonly #nanos: OpenColumn | undefined;
  #primary: DerivedColumn | undefined;
  readonly #bound = new Map<TagKeys, readonly OpenColumn[]>();
  /** Cached because adjacent points usually have the same tags. */
  #lastKeys: TagKeys | undefined;
  #lastColumns: readonly OpenColumn[] = [];

  constructor(table: string, timeColumn: string, valueColumn: string, keepsNanoseconds = false) {
    this.rows = new RowBatchBuilder({ name: table });
    this.#time = this.rows.addColumn(timeColumn, 'time', 'time');
    this.#nanos = keepsNanoseconds ? this.rows.addColumn(NANOS_COLUMN, 'nanos', 'int') : undefined;
    this.value = this.rows.addColumn(valueColumn, 'data', 'float');
  }

  /** Returns false, without adding the point, if the batch cannot have columns for all tags of the point. */
  push({ tags, micros, nanos, value, kind }: Point, origin: Origin, lines: number): boolean {
    if (tags.primaryTag !== undefined) this.#primary ??= this.rows.addDerivedColumn(PRIMARY_TAG, 'primary-tag', 'text');
    if (tags.keys !== this.#lastKeys && !this.#bind(tags.keys)) return false;
    this.#time.cells.push(micros);
    this.#nanos?.cells.push(nanos);
    this.#pushValue(value, kind);
    if (tags.primaryTag !== undefined) this.#primary?.cells.push(tags.primaryTag);
    if (tags.givesPrimaryTag) this.#primary?.given.push(this.rows.rowCount);
    const columns = this.#lastColumns;
    const { values } = tags;
    for (let index = 0; index < columns.length; index++) columns[index]?.cells.push(values[index] ?? null);
    if (tags.long) this.longTags.add(tags);
    this.rows.endRow(origin, lines);
    return true;
  }

  /**
   * Numbers share a column; a mix of booleans, text and numbers is converted to text, which any column type can parse.
   */
  #pushValue(value: Value, kind: CellKind): void {
    const column = this.value;
    if (column.cells.length === 0) {
      this.firstKind = kind;
      column.kind = kind;
    }
    if (column.kind === kind || (column.kind === 'float' && typeof value === 'number')) {
      column.cells.push(value);
    } else if (isNumber(column.kind) && isNumber(kind)) {
      column.cells.push(admit(column, kind, value));
    } else {
      this.#becomeText();
      column.cells.push(cellAsText(value));
    }
  }

  #becomeText(): void {
    const { value } = this;
    if (value.kind === 'text') return;
    value.kind = 'text';
    for (const [row, cell] of value.cells.entries()) {
      if (cell !== null) value.cells[row] = cellAsText(cell);
    }
  }

  #bind(keys: TagKeys): boolean {
    let columns = this.#bound.get(keys);
    if (columns === undefined) {
      const added = keys.names.filter((name) => this.rows.column(name) === undefined).length;
      if (added > 0 && this.#bound.size > 0 && this.rows.columns.length + added > MAX_TAGS) return false;
      columns = keys.names.map((name) => this.rows.column(name) ?? this.rows.addColumn(name, 'tag', 'text'));
      this.#bound.set(keys, columns);
    }
    this.#lastKeys = keys;
    this.#lastColumns = columns;
    return true;
  }
}

function isNumber(kind: CellKind): boolean {
  return kind === 'int' || kind === 'float' || kind === 'numeric';
}
