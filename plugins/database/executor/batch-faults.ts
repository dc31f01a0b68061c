import type { Fault } from '../../../src/data/fault.ts';
import { type RowBatch, tableText, type WriteReport } from '../../../src/data/row-batch.ts';
import type { DatabaseError } from '../../../src/errors.ts';
import type { Refusal } from '../sql/column-type.ts';
import type { WritePolicy } from './api.ts';
import type { CatalogueColumn } from './catalogue-query.ts';
import type { WritePlan } from './write-plan.ts';

type ColumnPolicy = Pick<WritePolicy, 'unknownColumns' | 'computedColumns'>;
type RowFault = Omit<Fault, 'scope' | 'origin' | 'table'>;

/** The faults of a batch. A row has at most one fault, the first that was found. */
export class BatchFaults {
  readonly #batch: RowBatch;
  readonly #byRow = new Map<number, Fault>();

  constructor(batch: RowBatch) {
    this.#batch = batch;
  }

  get rows(): ReadonlySet<number> {
    return new Set(this.#byRow.keys());
  }

  has(row: number): boolean {
    return this.#byRow.has(row);
  }

  get count(): number {
    return this.#byRow.size;
  }

  list(): Fault[] {
    return [...this.#byRow].sort(([left], [right]) => left - right).map(([, fault]) => fault);
  }

  /** Records a cell that does not fit its column. Such cells are found before the rows are sent. */
  refused(row: number, column: CatalogueColumn, refusal: Refusal): void {
    this.#add(row, {
      message: `column "${column.name}" of table "${this.#table}" (${column.type}): ${refusal.reason}`,
      column: column.name,
      sqlstate: refusal.sqlstate,
    });
  }

  refusedByServer(row: number, error: DatabaseError): void {
    this.#add(row, {
      message: `table "${this.#table}": ${error.message}`,
      column: error.column,
      sqlstate: error.sqlstate,
      cause: error,
    });
  }

  /** Records faults of the given rows: values in unknown or generated columns, and missing required or key columns. */
  addMisfits(plan: WritePlan, rows: Int32Array, { unknownColumns, computedColumns }: ColumnPolicy): void {
    const { required, missingKeyColumn } = plan;
    if (missingKeyColumn !== undefined) this.#addToAll(rows, this.#noKeyColumn(missingKeyColumn, plan));
    if (required !== undefined || plan.columns.length === 0) this.#addToAll(rows, this.#noColumns(required, plan));
    if (unknownColumns === 'fault') this.#addValues(plan.unknown, rows, (name) => `has no column "${name}"`, '42703');
    if (computedColumns !== 'ignore') {
      this.#addValues(plan.computed, rows, (name) => `computes column "${name}" itself`, '428C9');
    }
  }

  #addValues(columns: readonly number[], rows: Int32Array, reason: (name: string) => string, sqlstate: string): void {
    for (const index of columns) {
      const column = this.#batch.columns[index];
      if (column === undefined) continue;
      const fault = { message: `table "${this.#table}" ${reason(column.name)}`, column: column.name, sqlstate };
      for (const row of rows) if ((column.cells[row] ?? null) !== null) this.#add(row, fault);
    }
  }

  #noColumns(required: CatalogueColumn | undefined, { computed }: WritePlan): RowFault {
    if (required === undefined) {
      if (computed.length > 0) {
        return { message: `table "${this.#table}" computes all columns of the rows itself`, sqlstate: '428C9' };
      }
      return { message: `none of the columns of the rows exists in table "${this.#table}"`, sqlstate: '42703' };
    }
    return {
      message: `column "${required.name}" of table "${this.#table}" (${required.type}) is required, but the rows have no value for it`,
      column: required.name,
      sqlstate: '23502',
    };
  }

  #noKeyColumn(name: string, { computed }: WritePlan): RowFault {
    const isComputed = computed.some((index) => this.#batch.columns[index]?.name === name);
    const reason = isComputed ? `computes column "${name}" itself` : `has no column "${name}"`;
    const message = `table "${this.#table}" ${reason}, which identifies the rows`;
    return { message, column: name, sqlstate: isComputed ? '428C9' : '42703' };
  }

  #addToAll(rows: Int32Array, fault: RowFault): void {
    for (const row of rows) this.#add(row, fault);
  }

  get #table(): string {
    return tableText(this.#batch.table);
  }

  #add(row: number, fault: RowFault): void {
    if (this.#byRow.has(row)) return;
    this.#byRow.set(row, { ...fault, scope: 'record', table: this.#table, origin: this.#batch.origins.at(row) });
  }
}

/** The report of a batch with `allOrNothing` that was not stored. */
export function nothingStored(faults: readonly Fault[]): WriteReport {
  return { stored: 0, discarded: 0, collapsed: 0, faults };
}

export function refuseAll(batch: RowBatch, error: DatabaseError): Fault[] {
  return Array.from({ length: batch.rowCount }, (_, row) => ({
    scope: error.scope,
    message: error.message,
    origin: batch.origins.at(row),
    table: tableText(batch.table),
    column: error.column,
    sqlstate: error.sqlstate,
    cause: error,
  }));
}
