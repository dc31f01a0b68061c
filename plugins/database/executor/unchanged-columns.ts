import type { Cell, RowBatch, RowGroup } from '../../../src/data/row-batch.ts';
import { roundingUnit } from '../sql/cell-text.ts';
import type { WritePolicy } from './api.ts';
import type { CatalogueTable } from './catalogue-query.ts';
import { numberKeys, remainingRows } from './row-selection.ts';

/**
 * For rows that leave some columns unchanged: fills in these columns from the previous row of the batch with the same
 * key, as far as that row has values for them. Most rows of a key then have the same columns, so that the last row
 * replaces the others, and the number of statements does not depend on how often a row changes. Returns the batch as it
 * is if there is nothing to fill in.
 */
export function completedFromBatch(batch: RowBatch, table: CatalogueTable, policy: WritePolicy): RowBatch {
  const { groups, rowCount } = batch;
  const replacesRows = policy.dedupRule === 'override' && policy.insertMode !== undefined;
  if (groups === undefined || !replacesRows || policy.insertMode === 'insert') return batch;
  if (groups.list.every(({ unchanged }) => unchanged === undefined)) return batch;
  const key = (batch.key ?? []).map((name) => ({
    cells: batch.columns.find((column) => column.name === name)?.cells ?? [],
    unit: roundingUnit(table.columns.find((column) => column.name === name) ?? { precision: 6 }),
  }));
  const numbered = numberKeys(remainingRows(rowCount, new Set()), key);
  if (numbered === undefined) return batch;

  const cells = new Map<string, Cell[]>();
  const cellsOf = (name: string): Cell[] => {
    let copied = cells.get(name);
    if (copied === undefined) {
      copied = [...(batch.columns.find((column) => column.name === name)?.cells ?? [])];
      cells.set(name, copied);
    }
    return copied;
  };
  const list = new GroupList(groups.list);
  const groupOf = Int32Array.from({ length: rowCount }, (_, row) => groups.of(row));
  const latest = new Int32Array(numbered.count).fill(-1);
  for (let row = 0; row < rowCount; row++) {
    const id = numbered.ids[row] ?? 0;
    const previous = latest[id] ?? -1;
    const group = list.at(groupOf[row] ?? 0);
    latest[id] = group.operation === 'delete' ? -1 : row;
    if (previous < 0 || group.unchanged === undefined || group.operation === 'delete') continue;
    const { columns: known } = list.at(groupOf[previous] ?? 0);
    const found = [...group.unchanged].filter((name) => known.has(name));
    if (found.length === 0) continue;
    for (const name of found) {
      const copied = cellsOf(name);
      copied[row] = copied[previous] ?? null;
    }
    groupOf[row] = list.completed(groupOf[row] ?? 0, found);
  }
  const columns = batch.columns.map((column) => ({ ...column, cells: cells.get(column.name) ?? column.cells }));
  return { ...batch, columns, groups: { list: list.groups, of: (row) => groupOf[row] ?? 0 } };
}

/** The groups of a batch, and the groups added for completed rows. */
class GroupList {
  readonly groups: RowGroup[];
  readonly #indexes = new Map<string, number>();
  readonly #completed = new Map<string, number>();

  constructor(groups: readonly RowGroup[]) {
    this.groups = [...groups];
    for (const [index, group] of groups.entries()) this.#indexes.set(signatureOf(group), index);
  }

  at(index: number): RowGroup {
    const group = this.groups[index];
    if (group === undefined) throw new RangeError(`the batch has no group ${String(index)}`);
    return group;
  }

  /** Returns the index of the group for a row of the group `index` whose columns `found` were filled in. */
  completed(index: number, found: readonly string[]): number {
    const change = JSON.stringify([index, ...found]);
    let group = this.#completed.get(change);
    if (group === undefined) this.#completed.set(change, (group = this.#with(this.at(index), found)));
    return group;
  }

  #with({ operation, columns, unchanged = new Set() }: RowGroup, found: readonly string[]): number {
    const left = [...unchanged].filter((name) => !found.includes(name));
    const group: RowGroup = {
      operation,
      columns: new Set([...columns, ...found]),
      unchanged: left.length === 0 ? undefined : new Set(left),
    };
    const signature = signatureOf(group);
    const known = this.#indexes.get(signature);
    if (known !== undefined) return known;
    const added = this.groups.push(group) - 1;
    this.#indexes.set(signature, added);
    return added;
  }
}

function signatureOf({ operation, columns, unchanged }: RowGroup): string {
  return JSON.stringify([operation, [...columns].sort(), [...(unchanged ?? [])].sort()]);
}
