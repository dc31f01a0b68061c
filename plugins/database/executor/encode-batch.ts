import type { Cell, RowBatch } from '../../../src/data/row-batch.ts';
import { binaryArray } from '../sql/array-binary.ts';
import { arrayLiteral } from '../sql/array-literal.ts';
import type { Refuse } from '../sql/column-type.ts';
import type { NumberedKeys } from './row-selection.ts';
import type { PlannedColumn, WritePlan } from './write-plan.ts';

/** Parameters of a statement: one array per column, in text or binary format. */
export type Parameters = (string | Buffer)[];

/**
 * Encodes the given rows column by column. `refuse` is called once for each column; the function that it returns is
 * called for each cell of the column that does not fit.
 */
export function encodeRows(
  batch: RowBatch,
  plan: WritePlan,
  rows: Int32Array,
  refuse: (planned: PlannedColumn) => Refuse,
): Parameters {
  return plan.columns.map((planned) => {
    const { cells, kind } = batch.columns[planned.index] ?? { cells: [], kind: 'text' as const };
    return encodeCells({ cells, kind }, rows, planned, refuse(planned));
  });
}

/**
 * Like `encodeRows`, but merges the rows of each key into one, using the last non-null cell of each column. If a cell
 * does not fit, the function that `refuse` returned is called with the row that contains the cell. If a NOT NULL column
 * is null in all rows of a key, that function is called with each of these rows.
 */
export function encodeMerged(
  batch: RowBatch,
  plan: WritePlan,
  rows: Int32Array,
  { ids, count }: NumberedKeys,
  refuse: (planned: PlannedColumn) => Refuse,
): Parameters {
  const merged = Int32Array.from({ length: count }, (_, id) => id);
  return plan.columns.map((planned) => {
    const { cells, kind } = batch.columns[planned.index] ?? { cells: [], kind: 'text' as const };
    const filled = new Array<Cell>(count).fill(null);
    const sources = new Int32Array(count).fill(-1);
    rows.forEach((row, position) => {
      const cell = cells[row] ?? null;
      if (cell === null) return;
      const id = ids[position] ?? 0;
      filled[id] = cell;
      sources[id] = row;
    });
    const onRefusal = refuse(planned);
    return encodeCells({ cells: filled, kind }, merged, planned, (id, refusal) => {
      const source = sources[id] ?? -1;
      if (source >= 0) onRefusal(source, refusal);
      else rows.filter((_, position) => ids[position] === id).forEach((row) => onRefusal(row, refusal));
    });
  });
}

function encodeCells(
  { cells, kind }: Pick<RowBatch['columns'][number], 'cells' | 'kind'>,
  rows: Int32Array,
  { target }: PlannedColumn,
  onRefusal: Refuse,
): string | Buffer {
  return binaryArray(cells, kind, rows, target) ?? arrayLiteral(cells, kind, rows, target, onRefusal);
}
