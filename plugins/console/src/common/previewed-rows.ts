import type { PreviewedRecord } from './answers.ts';

/** Rows, lines and statements that a sink would write for a record. If the record has faults, some of the rows would be refused. */
export type Writes = Pick<PreviewedRecord, 'rows' | 'lines' | 'statements' | 'faults'>;
type PreviewedRow = NonNullable<Writes['rows']>[number];

export interface RowTable {
  readonly table: string;
  readonly operation: PreviewedRow['operation'];
  readonly columns: readonly string[];
  readonly rows: readonly PreviewedRow['values'][];
}

/** Groups consecutive rows that have the same table, operation and columns. */
export function rowTables(rows: readonly PreviewedRow[]): readonly RowTable[] {
  const tables: (Omit<RowTable, 'rows'> & { rows: PreviewedRow['values'][] })[] = [];
  for (const { table, operation, columns, values } of rows) {
    const last = tables.at(-1);
    const isSame =
      last?.table === table && last.operation === operation && last.columns.join('\0') === columns.join('\0');
    if (isSame) last.rows.push(values);
    else tables.push({ table, operation, columns, rows: [values] });
  }
  return tables;
}

/** Longer values are cut off at this number of characters. */
const MAX_TEXT = 4000;

/** Formats a value of the JSON converter. If it is an envelope of schema and payload, only the payload is formatted. */
export function payloadText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return cellText(isEnvelope(value) ? value.payload : value);
}

/** Formats a value of a row or record: a string unchanged, anything else as JSON. */
export function cellText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function isEnvelope(value: unknown): value is { readonly payload: unknown } {
  return typeof value === 'object' && value !== null && 'schema' in value && 'payload' in value;
}
