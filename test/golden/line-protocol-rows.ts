import assert from 'node:assert/strict';
import type { Cell, RowBatch } from '../../src/data/row-batch.ts';
import { LineLpDecoder, type LineLpPolicy } from '../../plugins/database/formats/line-lp/line-lp.ts';

const ORIGIN = { kind: 'record', topic: 'lines', partition: 0, offset: 0 } as const;

export const TIME_COLUMN = 'time of the row';

/**
 * Rows that a decoder yields for a text when it reads it the second time, so that most lines take its hot path. The faults are
 * those of the first time, and must be the same the second time.
 */
export function decodeTwice(
  text: string | Uint8Array,
  policy: Omit<LineLpPolicy, 'timeColumn'>,
): { readonly batches: readonly RowBatch[]; readonly faults: readonly string[] } {
  const decoder = new LineLpDecoder({ ...policy, timeColumn: TIME_COLUMN });
  const take = () => {
    const { rows, faults } = decoder.take();
    return { batches: rows.map(({ batch }) => batch), faults: faults.map(({ message }) => message) };
  };
  decoder.add(text, ORIGIN);
  const { faults } = take();
  decoder.add(text, ORIGIN);
  decoder.add(text, ORIGIN);
  const again = take();
  assert.deepEqual(again.faults, [...faults, ...faults]);
  return { batches: again.batches, faults };
}

/** Rows by table, in order; a row has the columns that it gives a value. */
export function rowsInBatches(batches: readonly RowBatch[]): Map<string, Record<string, Cell>[]> {
  const tables = new Map<string, Record<string, Cell>[]>();
  for (const batch of batches) {
    const rows = tables.get(batch.table.name) ?? [];
    tables.set(batch.table.name, rows);
    for (let index = 0; index < batch.rowCount; index++) {
      const row: Record<string, Cell> = {};
      for (const { name, kind, cells } of batch.columns) {
        const cell = cells[index] ?? null;
        // Decimal text represents a whole number that a double rounds; floats are compared as doubles.
        if (cell !== null) row[name] = cellText(kind === 'numeric' ? Number(cell) : cell);
      }
      rows.push(row);
    }
  }
  return tables;
}

/** Numbers of every width compare as text; zero has no sign. */
export function cellText(cell: Cell): Cell {
  if (typeof cell === 'number') return String(cell + 0);
  return typeof cell === 'bigint' ? String(cell) : cell;
}
