import type { PreviewedRecord } from '../common/answers.ts';

export interface WrittenTable {
  readonly table: string;
  readonly operation: NonNullable<PreviewedRecord['rows']>[number]['operation'];
  /** Whether the records of these rows have faults, so that some of the rows would be refused. */
  readonly hasFaults: boolean;
  readonly columns: readonly string[];
  /** The rows with the messages that they come from. A cell is `undefined` if its row does not have the column. */
  readonly rows: readonly { readonly message: PreviewedRecord['message']; readonly cells: readonly unknown[] }[];
}

interface OpenTable {
  readonly columns: string[];
  readonly rows: { message: PreviewedRecord['message']; byColumn: ReadonlyMap<string, unknown> }[];
}

/** The rows of all records, in one table for each table of the database and each operation. Rows of records with faults are apart. */
export function writtenTables(records: readonly PreviewedRecord[]): readonly WrittenTable[] {
  const found = new Map<string, Pick<WrittenTable, 'table' | 'operation' | 'hasFaults'> & OpenTable>();
  for (const { message, faults, rows = [] } of records) {
    const hasFaults = faults.length > 0;
    for (const { table, operation, columns, values } of rows) {
      const key = `${operation} ${String(hasFaults)} ${table}`;
      const open = found.get(key) ?? { table, operation, hasFaults, columns: [], rows: [] };
      found.set(key, open);
      open.columns.push(...columns.filter((column) => !open.columns.includes(column)));
      open.rows.push({ message, byColumn: new Map(columns.map((column, index) => [column, values[index] ?? null])) });
    }
  }
  return [...found.values()].map(({ table, operation, hasFaults, columns, rows }) => ({
    ...{ table, operation, hasFaults, columns },
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
