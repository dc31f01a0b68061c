/** A value as text in a form that is the same for equal values of a type; see table-reader.ts. */
export type Cell = string | null;
export type Row = ReadonlyMap<string, Cell>;

/** Treatment of a row if the table already contains a row with its key. */
export type StoreRule =
  /** The table has no key, so the row is added. */
  | 'append'
  /** The new row is refused. */
  | 'insert'
  /** The cells of the new row replace those of the stored row. */
  | 'set'
  /** Same as `set`, without the NULLs of the new row. */
  | 'fill'
  /** The new row replaces the stored row. */
  | 'replace'
  /** The stored row does not change. */
  | 'keep'
  /** Same as `set`, but the row is not added if there is no stored row. */
  | 'update';

/** Type as `format_type` prints it; undefined if the documents do not specify it. */
export type ColumnType = string | undefined;

/** The contents of one table after each record, according to the documents. */
export class TableModel {
  readonly name: string;
  #exists = false;
  #key: readonly string[] = [];
  #rowCount = 0;
  readonly columns = new Map<string, ColumnType>();
  /** Columns that only refused records had. The documents do not specify whether the table has them. */
  readonly possibleColumns = new Set<string>();
  #rows = new Map<string, Map<string, Cell>>();

  constructor(name: string) {
    this.name = name;
  }

  get exists(): boolean {
    return this.#exists;
  }

  get key(): readonly string[] {
    return this.#key;
  }

  get rows(): readonly Row[] {
    return [...this.#rows.values()];
  }

  /** True if all records for this table were refused, so that it may or may not have been created. */
  get mayExist(): boolean {
    return this.#exists || this.possibleColumns.size > 0;
  }

  create(columns: Iterable<readonly [string, ColumnType]>, key: readonly string[]): void {
    this.#exists = true;
    this.#key = key;
    for (const [name, type] of columns) this.addColumn(name, type);
  }

  /** Notes that a refused record had these columns. */
  allow(columns: Iterable<string>): void {
    for (const name of columns) if (!this.columns.has(name)) this.possibleColumns.add(name);
  }

  drop(): void {
    this.#exists = false;
    this.columns.clear();
    this.possibleColumns.clear();
    this.#rows.clear();
  }

  addColumn(name: string, type: ColumnType): void {
    if (!this.columns.has(name)) this.columns.set(name, type);
    this.possibleColumns.delete(name);
  }

  dropColumn(name: string): void {
    this.columns.delete(name);
    for (const row of this.#rows.values()) row.delete(name);
  }

  find(row: Row): Row | undefined {
    return this.#rows.get(this.#keyOf(row));
  }

  /** Returns false if the row is refused. */
  store(row: Row, rule: StoreRule): boolean {
    for (const name of row.keys()) {
      if (!this.columns.has(name)) throw new Error(`The model has no column ${name} of ${this.name}`);
    }
    if (rule === 'append') {
      this.#rows.set(String(++this.#rowCount), new Map(row));
      return true;
    }
    const key = this.#keyOf(row);
    const stored = this.#rows.get(key);
    if (stored === undefined) {
      if (rule !== 'update') this.#rows.set(key, new Map(row));
      return true;
    }
    if (rule === 'insert') return false;
    if (rule === 'replace') this.#rows.set(key, new Map(row));
    if (rule === 'set' || rule === 'update' || rule === 'fill') {
      for (const [name, cell] of row) if (rule !== 'fill' || cell !== null) stored.set(name, cell);
    }
    return true;
  }

  /** Deletes the row with this key, if it is stored. */
  delete(key: Row): void {
    this.#rows.delete(this.#keyOf(key));
  }

  /** Changes the rows that satisfy the condition. If `change` returns undefined, the row is deleted. */
  change(condition: (row: Row) => boolean, change: (row: Row) => Row | undefined): void {
    for (const [key, row] of [...this.#rows]) {
      if (!condition(row)) continue;
      const changed = change(row);
      if (changed === undefined) this.#rows.delete(key);
      else this.#rows.set(key, new Map(changed));
    }
  }

  #keyOf(row: Row): string {
    if (this.#key.length === 0) throw new Error(`Table ${this.name} of the model has no key`);
    return JSON.stringify(this.#key.map((name) => row.get(name) ?? null));
  }
}
