import type { PreviewedRecord } from './answers.ts';

/** Rows, lines and statements that a sink would write. */
export type Writes = Pick<PreviewedRecord, 'rows' | 'lines' | 'statements'>;
type PreviewedRow = NonNullable<Writes['rows']>[number];

export interface RowTable {
  readonly table: string;
  readonly operation: string;
  readonly columns: readonly string[];
  readonly rows: readonly PreviewedRow['values'][];
}

/** Consecutive rows with the same columns form one table. */
export function rowTables(rows: readonly PreviewedRow[]): readonly RowTable[] {
  const tables: { table: string; operation: string; columns: readonly string[]; rows: PreviewedRow['values'][] }[] = [];
  for (const { table, operation, columns, values } of rows) {
    const last = tables.at(-1);
    const isSame =
      last?.table === table && last.operation === operation && last.columns.join('\0') === columns.join('\0');
    if (isSame) last.rows.push(values);
    else tables.push({ table, operation, columns, rows: [values] });
  }
  return tables;
}

/** A longer value is cut. */
const MAX_TEXT = 4000;

/** A value as the JSON converter has it, without its schema. */
export function payloadText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return cellText(isEnvelope(value) ? value.payload : value);
}

/** A value of a row or record. */
export function cellText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function isEnvelope(value: unknown): value is { readonly payload: unknown } {
  return typeof value === 'object' && value !== null && 'schema' in value && 'payload' in value;
}
