import type { RowBatch } from '../data/row-batch.ts';
import { binaryArray } from '../sql/array-binary.ts';
import { arrayLiteral } from '../sql/array-literal.ts';
import type { Refuse } from '../sql/column-type.ts';
import type { PlannedColumn, WritePlan } from './write-plan.ts';

/** The statement's parameters: one array per column, text or binary. */
export type Parameters = (string | Buffer)[];

/** Encodes the chosen rows column by column. A cell that its column cannot take is told to `refuse`, with the column. */
export function encodeRows(
  batch: RowBatch,
  plan: WritePlan,
  rows: Int32Array,
  refuse: (planned: PlannedColumn) => Refuse,
): Parameters {
  return plan.columns.map((planned) => {
    const { cells, kind } = batch.columns[planned.index] ?? { cells: [], kind: 'text' as const };
    const onRefusal = refuse(planned);
    return (
      binaryArray(cells, kind, rows, planned.target, onRefusal) ??
      arrayLiteral(cells, kind, rows, planned.target, onRefusal)
    );
  });
}
