import type { PreviewedRecord } from '../common/answers.ts';

export interface WrittenTable {
  readonly table: string;
  readonly operation: string;
  readonly columns: readonly string[];
  /** The rows with the messages that they come from. A cell is `undefined` if its row does not have the column. */
  readonly rows: readonly { readonly message: PreviewedRecord['message']; readonly cells: readonly unknown[] }[];
}

interface OpenTable {
  readonly columns: string[];
  readonly rows: { message: PreviewedRecord['message']; byColumn: ReadonlyMap<string, unknown> }[];
}

/** The rows of all records, in one table for each table of the database and each operation. */
export function writtenTables(records: readonly PreviewedRecord[]): readonly WrittenTable[] {
  const found = new Map<string, Pick<WrittenTable, 'table' | 'operation'> & OpenTable>();
  for (const { message, rows = [] } of records) {
    for (const { table, operation, columns, values } of rows) {
      const key = `${operation} ${table}`;
      const open = found.get(key) ?? { table, operation, columns: [], rows: [] };
      found.set(key, open);
      open.columns.push(...columns.filter((column) => !open.columns.includes(column)));
      open.rows.push({ message, byColumn: new Map(columns.map((column, index) => [column, values[index] ?? null])) });
    }
  }
  return [...found.values()].map(({ table, operation, columns, rows }) => ({
    ...{ table, operation, columns },
    rows: rows.map(({ message, byColumn }) => ({ message, cells: columns.map((column) => byColumn.get(column)) })),
  }));
}

/** The records that cause no fault and would write nothing. */
export function withoutEffect(records: readonly PreviewedRecord[]): readonly PreviewedRecord[] {
  return records.filter(
    ({ faults, dropped, rows = [], lines = [], statements = [] }) =>
      !dropped && faults.length + rows.length + lines.length + statements.length === 0,
  );
}
