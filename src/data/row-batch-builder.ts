import type { Origin } from './fault.ts';
import type { MessageBlock } from './message-block.ts';
import { OriginList } from './origin-list.ts';
import type { CellKind, ColumnCells, ColumnRole, RowBatch, TableName } from './row-batch.ts';

/** A column while its batch is filled. `kind` may widen until the batch is built. */
export interface OpenColumn extends ColumnCells {
  kind: CellKind;
  readonly given?: number[] | undefined;
}

export type DerivedColumn = OpenColumn & { readonly given: number[] };

/**
 * Fills one row batch. Between rows, every column has `rowCount` cells. While a row is open, some columns have one
 * more, because a decoder pushes cells directly into them. `endRow` then completes the row (columns without a cell get
 * null), or `abandonRow` drops its cells, so that a line that turns out to be invalid leaves nothing behind.
 */
export class RowBatchBuilder {
  readonly table: TableName;
  readonly columns: OpenColumn[] = [];
  readonly #byName = new Map<string, OpenColumn>();
  readonly #origins = new OriginList();
  #rowCount = 0;

  constructor(table: TableName) {
    this.table = table;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  column(name: string): OpenColumn | undefined {
    return this.#byName.get(name);
  }

  /** Adds a column whose cells are derived, except for the rows listed in `given`. */
  addDerivedColumn(name: string, role: ColumnRole, kind: CellKind): DerivedColumn {
    return this.#add({ name, role, kind, cells: [], given: [] });
  }

  /** Adds a column, in which existing rows get null. Throws if the name is taken. */
  addColumn(name: string, role: ColumnRole, kind: CellKind): OpenColumn {
    return this.#add({ name, role, kind, cells: [] });
  }

  #add<C extends OpenColumn>(column: C): C {
    const { name, cells } = column;
    if (this.#byName.has(name)) throw new Error(`the batch already has a column ${name}`);
    for (let row = 0; row < this.#rowCount; row++) cells.push(null);
    this.columns.push(column);
    this.#byName.set(name, column);
    return column;
  }

  /**
   * Ends the open row. `linesBefore` is the number of lines of the message before this row; it is used only for origins
   * of kind `line`.
   */
  endRow(origin: Origin, linesBefore: number): void {
    this.#complete();
    this.#origins.add(origin, origin.kind === 'line' ? origin.line + linesBefore : 0);
  }

  /** Ends the open row, which is a record of a block. */
  endRowOf(block: MessageBlock, index: number): void {
    this.#complete();
    this.#origins.add(block, index);
  }

  #complete(): void {
    const row = this.#rowCount++;
    for (const { cells } of this.columns) {
      if (cells.length === row) cells.push(null);
    }
  }

  abandonRow(): void {
    this.truncate(this.#rowCount);
  }

  /** Removes rows, including the open one, until `rowCount` are left. Columns that were added for them remain. */
  truncate(rowCount: number): void {
    for (const column of this.columns) {
      if (column.cells.length > rowCount) column.cells.length = rowCount;
      while ((column.given?.at(-1) ?? -1) >= rowCount) column.given?.pop();
    }
    this.#origins.truncate(rowCount);
    this.#rowCount = rowCount;
  }

  /** Returns the batch. The builder must not be used afterwards. */
  build(): RowBatch {
    return {
      table: this.table,
      columns: this.columns,
      rowCount: this.#rowCount,
      origins: this.#origins,
    };
  }
}
