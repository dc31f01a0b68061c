import type { Decoded } from '../../plugins/database/formats/format.ts';

/** How many rows and how many faults. */
export function countsOf({ rows, faults }: Decoded): [rows: number, faults: number] {
  return [rows.reduce((sum, { batch }) => sum + batch.rowCount, 0), faults.length];
}

/** The line of every row and of every fault, in ascending order; 0 where none is known. */
export function linesOf({ rows, faults }: Decoded): number[] {
  const stored = rows.flatMap(({ batch }) => Array.from({ length: batch.rowCount }, (_, row) => batch.origins.at(row)));
  return [...stored, ...faults.map(({ origin }) => origin)]
    .map((origin) => (origin?.kind === 'line' ? origin.line : 0))
    .sort((left, right) => left - right);
}
