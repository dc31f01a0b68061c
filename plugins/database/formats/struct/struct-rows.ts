import { BoundedMap } from '../../../../src/data/bounded-map.ts';
import type { Origin } from '../../../../src/data/fault.ts';
import type { MessageBlock } from '../../../../src/data/message-block.ts';
import type { Cell, CellKind, RowGroup, TableName } from '../../../../src/data/row-batch.ts';
import { type OpenColumn, RowBatchBuilder } from '../../../../src/data/row-batch-builder.ts';
import type { TableShape } from '../../../../src/data/table-shape.ts';
import type { ConnectValue } from '../../../../src/data/value.ts';
import type { DecodedRows } from '../format.ts';
import { mismatch, type StructColumn } from './struct-columns.ts';
import { mergeShapes, type RowLayout } from './struct-layout.ts';

/** A layout that was prepared in this batch, with the cells of its columns in the layout's order. */
interface PreparedLayout {
  readonly layout: RowLayout;
  readonly group: number;
  readonly keyCells: readonly Cell[][];
  readonly valueCells: readonly Cell[][];
  /** Groups of the rows with placeholders, by the names of the columns that have one. */
  readonly groupsByUnchanged: Map<string, number>;
}

/** Collects rows of a table, with any layouts that have the same key. */
export class StructRows {
  readonly #builder: RowBatchBuilder;
  readonly #key: readonly string[];
  readonly #prepared = new Map<RowLayout, PreparedLayout>();
  readonly #groups: RowGroup[] = [];
  readonly #groupIds = new Map<string, number>();
  /** Group of each row; `undefined` as long as there is a single group. */
  #rowGroups: number[] | undefined;
  /** Columns of unknown kind, because all their cells are nulls without a schema. */
  readonly #untyped = new Set<string>();
  #last: PreparedLayout | undefined;
  /** Columns of the last row that have a placeholder. */
  readonly #unchanged: string[] = [];

  constructor(table: TableName, key: readonly string[]) {
    this.#builder = new RowBatchBuilder(table);
    this.#key = key;
  }

  get table(): TableName {
    return this.#builder.table;
  }

  get rowCount(): number {
    return this.#builder.rowCount;
  }

  /** Prepares for rows of this layout; returns false if they cannot share a batch with the existing rows. */
  prepare(layout: RowLayout): boolean {
    if (this.#last?.layout === layout) return true;
    let prepared = this.#prepared.get(layout);
    if (prepared === undefined) {
      const columns = [...layout.fromKey, ...layout.fromValue];
      if (!sameNames(layout.key, this.#key) || !columns.every((column) => this.#fits(column))) return false;
      prepared = {
        layout,
        group: this.#groupOf(layout),
        groupsByUnchanged: new Map(),
        keyCells: layout.fromKey.map((column) => this.#open(column).cells),
        valueCells: layout.fromValue.map((column) => this.#open(column).cells),
      };
      this.#prepared.set(layout, prepared);
    }
    this.#last = prepared;
    return true;
  }

  /** Adds a row of the prepared layout. If a value does not fit, adds nothing and returns the reason. */
  add(keyValues: readonly ConnectValue[], values: readonly ConnectValue[], origin: Origin): string | undefined {
    const problem = this.#push(keyValues, values);
    if (problem === undefined) this.#builder.endRow(origin, 0);
    return problem;
  }

  /** Same as `add`, for a record of a block. */
  addOf(
    keyValues: readonly ConnectValue[],
    values: readonly ConnectValue[],
    block: MessageBlock,
    index: number,
  ): string | undefined {
    const problem = this.#push(keyValues, values);
    if (problem === undefined) this.#builder.endRowOf(block, index);
    return problem;
  }

  #push(keyValues: readonly ConnectValue[], values: readonly ConnectValue[]): string | undefined {
    const prepared = this.#last;
    if (prepared === undefined) throw new Error('no layout was prepared');
    const { fromKey, fromValue } = prepared.layout;
    const unchanged = this.#unchanged;
    unchanged.length = 0;
    const problem =
      push(fromKey, prepared.keyCells, keyValues, unchanged) ?? push(fromValue, prepared.valueCells, values, unchanged);
    if (problem !== undefined) {
      this.#builder.abandonRow();
      return problem;
    }
    const group = unchanged.length === 0 ? prepared.group : this.#groupWithout(prepared, unchanged);
    this.#rowGroups?.push(group);
    return undefined;
  }

  #groupWithout({ layout, groupsByUnchanged }: PreparedLayout, unchanged: readonly string[]): number {
    const names = unchanged.join('\0');
    let group = groupsByUnchanged.get(names);
    if (group === undefined) {
      const columns = new Set(layout.columns);
      for (const name of unchanged) columns.delete(name);
      group = this.#groupOf({ operation: layout.operation, columns, unchanged: new Set(unchanged) });
      groupsByUnchanged.set(names, group);
    }
    return group;
  }

  /** Returns the collected rows; the object must not be used afterwards. */
  build(shapes: MergedShapes): DecodedRows {
    const layouts = [...this.#prepared.keys()];
    const rowGroups = this.#rowGroups;
    const only = rowGroups === undefined ? this.#groups[0] : undefined;
    const isPlain = only?.operation === 'store';
    const groups = isPlain ? undefined : { list: this.#groups, of: (row: number) => rowGroups?.[row] ?? 0 };
    return { batch: { ...this.#builder.build(), key: this.#key, groups }, shape: shapes.of(layouts) };
  }

  #groupOf({ operation, columns, unchanged }: RowGroup): number {
    const signature = JSON.stringify([operation, [...columns].sort(), [...(unchanged ?? [])].sort()]);
    let group = this.#groupIds.get(signature);
    if (group !== undefined) return group;
    group = this.#groups.push({ operation, columns, unchanged }) - 1;
    this.#groupIds.set(signature, group);
    if (group === 1) this.#rowGroups = new Array<number>(this.#builder.rowCount).fill(0);
    return group;
  }

  #fits({ name, kind, type }: StructColumn): boolean {
    const open = this.#builder.column(name);
    if (open === undefined || open.kind === kind || type === undefined || this.#untyped.has(name)) return true;
    return widthOf(open.kind) >= 0 && widthOf(kind) >= 0;
  }

  #open({ name, kind, type }: StructColumn): OpenColumn {
    let open = this.#builder.column(name);
    if (open === undefined) {
      open = this.#builder.addColumn(name, 'data', kind);
      if (type === undefined) this.#untyped.add(name);
    } else if (type !== undefined && (this.#untyped.delete(name) || widthOf(kind) > widthOf(open.kind))) {
      // A column may contain numbers of several kinds. Its kind is the widest of them, which covers the others.
      open.kind = kind;
    }
    return open;
  }
}

const NUMBERS: readonly CellKind[] = ['int', 'float', 'numeric'];

function widthOf(kind: CellKind): number {
  return NUMBERS.indexOf(kind);
}

/** Adds a cell for each column. Adds the names of the columns with a placeholder to `unchanged`. */
function push(
  columns: readonly StructColumn[],
  cells: readonly Cell[][],
  values: readonly ConnectValue[],
  unchanged: string[],
): string | undefined {
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i];
    const list = cells[i];
    if (column === undefined || list === undefined) break;
    const value = values[column.index] ?? null;
    const cell = value === null ? column.nullCell : column.toCell(value);
    if (cell !== undefined) {
      list.push(cell);
    } else if (value !== null && column.isPlaceholder?.(value) === true) {
      unchanged.push(column.name);
      list.push(null);
    } else {
      return mismatch(column, value);
    }
  }
  return undefined;
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return left === right || (left.length === right.length && left.every((name, index) => name === right[index]));
}

/** Cache size for sets of layouts. */
const MAX_SHAPES = 1_000;

/** The shapes of batches. Equal sets of layouts share one shape object, so that their table is checked only once. */
export class MergedShapes {
  readonly #ids = new WeakMap<RowLayout, number>();
  readonly #shapes = new BoundedMap<string, TableShape>(MAX_SHAPES);
  #nextId = 0;

  /** Returns `undefined` if there are only deletions, for which no table is created. */
  of(layouts: readonly RowLayout[]): TableShape | undefined {
    const stored = layouts.filter(({ operation }) => operation === 'store');
    if (stored.length <= 1) return stored[0]?.shape;
    const ids = stored.map((layout) => this.#idOf(layout)).sort((left, right) => left - right);
    const signature = ids.join();
    return this.#shapes.getOrCreate(signature, () => mergeShapes(stored.map((layout) => layout.shape)));
  }

  #idOf(layout: RowLayout): number {
    let id = this.#ids.get(layout);
    if (id === undefined) this.#ids.set(layout, (id = this.#nextId++));
    return id;
  }
}
