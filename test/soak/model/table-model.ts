/** A value as text in one form for each type, whichever way it was written; see table-reader.ts. */
export type Cell = string | null;
export type Row = ReadonlyMap<string, Cell>;

/** How a row is stored if the table already has a row with its key. */
export type StoreRule =
  /** The table has no key, so each row is another row. */
  | 'append'
  /** The new row is refused. */
  | 'insert'
  /** The cells that the new row has replace those of the stored row. */
  | 'set'
  /** The same, without NULLs. */
  | 'fill'
  /** The new row replaces the stored row. */
  | 'replace'
  /** The stored row stays as it is. */
  | 'keep'
  /** As `set`, but a row that is not stored is not added. */
  | 'update';

/** Type as `format_type` prints it; undefined if the documents do not say it. */
export type ColumnType = string | undefined;

/** One table as the documents say that it looks after each record. */
export class TableModel {
  readonly name: string;
  #exists = false;
  #key: readonly string[] = [];
  #rowCount = 0;
  readonly columns = new Map<string, ColumnType>();
  /** Columns that only refused records had: the documents do not say whether the table has them. */
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

  /** Whether only refused records were of this table, so that it may have been created for them. */
  get mayExist(): boolean {
    return this.#exists || this.possibleColumns.size > 0;
  }

  create(columns: Iterable<readonly [string, ColumnType]>, key: readonly string[]): void {
    this.#exists = true;
    this.#key = key;
    for (const [name, type] of columns) this.addColumn(name, type);
  }

  /** A refused record had these columns. */
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

  /** Changes the rows that satisfy the condition; a change that returns undefined deletes the row. */
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
