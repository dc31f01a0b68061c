import type { Fault } from '../data/fault.ts';
import { type RowBatch, tableText } from '../data/row-batch.ts';
import type { DatabaseError } from '../errors.ts';
import type { Refusal } from '../sql/column-type.ts';
import type { CatalogueColumn, CatalogueTable } from './catalogue-query.ts';
import type { WritePlan } from './write-plan.ts';

/** The faults of one batch: at most one per row, the first that was found. */
export class BatchFaults {
  readonly #batch: RowBatch;
  readonly #byRow = new Map<number, Fault>();

  constructor(batch: RowBatch) {
    this.#batch = batch;
  }

  get rows(): ReadonlySet<number> {
    return new Set(this.#byRow.keys());
  }

  get count(): number {
    return this.#byRow.size;
  }

  /** In row order. */
  list(): Fault[] {
    return [...this.#byRow].sort(([left], [right]) => left - right).map(([, fault]) => fault);
  }

  /** A cell that the column cannot take, found before anything was sent. */
  refused(row: number, column: CatalogueColumn, refusal: Refusal): void {
    this.#add(row, {
      message: `column "${column.name}" of table "${this.#table}" (${column.type}): ${refusal.reason}`,
      column: column.name,
      sqlstate: refusal.sqlstate,
    });
  }

  /** The server refused this row when it was sent alone. */
  refusedByServer(row: number, error: DatabaseError): void {
    this.#add(row, {
      message: `table "${this.#table}": ${error.message}`,
      column: error.column,
      sqlstate: error.sqlstate,
      cause: error,
    });
  }

  /** Values in columns that the table does not have (or computes itself), and columns without which no row is possible. */
  addMisfits(table: CatalogueTable, plan: WritePlan, unknownColumns: 'fault' | 'ignore'): void {
    const { required } = plan;
    if (required !== undefined || plan.columns.length === 0) this.#addToAllRows(required);
    if (unknownColumns === 'ignore') return;
    for (const index of plan.unknown) {
      const column = this.#batch.columns[index];
      if (column === undefined) continue;
      const isComputed = table.columns.some((existing) => existing.name === column.name);
      const reason = isComputed ? `computes column "${column.name}" itself` : `has no column "${column.name}"`;
      for (let row = 0; row < this.#batch.rowCount; row++) {
        if ((column.cells[row] ?? null) === null) continue;
        this.#add(row, {
          message: `table "${this.#table}" ${reason}`,
          column: column.name,
          sqlstate: isComputed ? '428C9' : '42703',
        });
      }
    }
  }

  #addToAllRows(required: CatalogueColumn | undefined): void {
    const fault =
      required === undefined
        ? { message: `table "${this.#table}" has none of the columns of the rows`, sqlstate: '42703' }
        : {
            message: `column "${required.name}" of table "${this.#table}" (${required.type}) needs a value and gets none`,
            column: required.name,
            sqlstate: '23502',
          };
    for (let row = 0; row < this.#batch.rowCount; row++) this.#add(row, fault);
  }

  get #table(): string {
    return tableText(this.#batch.table);
  }

  #add(row: number, fault: Omit<Fault, 'scope' | 'origin' | 'table'>): void {
    if (this.#byRow.has(row)) return;
    this.#byRow.set(row, { ...fault, scope: 'record', table: this.#table, origin: this.#batch.origins.at(row) });
  }
}
