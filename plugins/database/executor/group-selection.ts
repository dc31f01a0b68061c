import type { RowGroups } from '../../../src/data/row-batch.ts';
import { type KeyPart, numberKeys, type RowSelection } from './row-selection.ts';

/** Determines how rows with the same key are stored: only the last, only the first, each, or merged into one. */
export type EqualKeys = 'last' | 'first' | 'all' | 'merge';

/** Rows for one statement of one group. */
export interface GroupSelection extends RowSelection {
  /** Index in the batch's list of groups. */
  readonly group: number;
  /**
   * True if no earlier statement of the batch stores a row with one of these keys. Meaningless if `equalKeys` is `all`.
   */
  readonly isFirst: boolean;
}

const DROPPED = -1;

/**
 * Arranges a batch of several groups into statements with the same effect as applying the rows one by one. The first
 * statements are the deletions, one row per key; the next ones store the rows that no later deletion removes. Rows that
 * precede the deletion of their key are dropped. Rows with the same key in different groups set different columns. All
 * of them are therefore written, in separate statements, unless only the first row of a key is stored (`first`).
 */
export function selectByGroup(
  candidates: Int32Array,
  key: readonly KeyPart[],
  groups: RowGroups,
  equalKeys: EqualKeys,
): GroupSelection[] {
  const assignment = new StepAssignment(groups, equalKeys, (candidates.at(-1) ?? -1) + 1);
  const numbered = numberKeys(candidates, key);
  candidates.forEach((row, position) => {
    assignment.add(row, numbered === undefined ? position : (numbered.ids[position] ?? 0));
  });
  return assignment.statements(candidates);
}

/**
 * Assigns each row that is not dropped to a step. Steps run in ascending order; each has one statement for each group that
 * has rows in it. Step 0 contains the deletions.
 */
class StepAssignment {
  readonly #groups: RowGroups;
  readonly #equalKeys: EqualKeys;
  readonly #steps: Int32Array;
  /** For each row, the previous row with the same key that is not dropped; -1 if there is none. */
  readonly #previous: Int32Array;
  readonly #fallbackRows: Int32Array;
  readonly #latest = new Map<number, number>();

  constructor(groups: RowGroups, equalKeys: EqualKeys, length: number) {
    this.#groups = groups;
    this.#equalKeys = equalKeys;
    this.#steps = new Int32Array(length).fill(DROPPED);
    this.#previous = new Int32Array(length).fill(-1);
    this.#fallbackRows = new Int32Array(length).fill(-1);
  }

  add(row: number, key: number): void {
    const latest = this.#latest.get(key) ?? -1;
    if (this.#isDeletion(row)) {
      for (let earlier = latest; earlier >= 0; earlier = this.#previous[earlier] ?? -1) this.#steps[earlier] = DROPPED;
      this.#steps[row] = 0;
    } else if (latest < 0 || this.#isDeletion(latest)) {
      this.#steps[row] = 1;
      this.#previous[row] = latest;
    } else if (this.#equalKeys === 'first') {
      return;
    } else {
      this.#addAfter(row, latest);
    }
    this.#latest.set(key, row);
  }

  statements(candidates: Int32Array): GroupSelection[] {
    const count = this.#groups.list.length;
    const lists = new Map<number, number[]>();
    for (const row of candidates) {
      const step = this.#steps[row] ?? DROPPED;
      if (step === DROPPED) continue;
      const statement = step * count + this.#groups.of(row);
      const list = lists.get(statement);
      if (list === undefined) lists.set(statement, [row]);
      else list.push(row);
    }
    return [...lists]
      .sort(([left], [right]) => left - right)
      .map(([statement, rows]) => ({
        group: statement % count,
        rows: Int32Array.from(rows),
        fallbackRows: this.#fallbackRows,
        isFirst: statement < 2 * count,
      }));
  }

  /** Adds a row whose key occurred earlier in this batch. */
  #addAfter(row: number, latest: number): void {
    const step = this.#steps[latest] ?? 1;
    const isSameGroup = this.#groups.of(row) === this.#groups.of(latest);
    const replaces = this.#equalKeys === 'last' && isSameGroup;
    const joins = this.#equalKeys === 'all' || (this.#equalKeys === 'merge' && isSameGroup);
    if (replaces) {
      this.#steps[latest] = DROPPED;
      this.#fallbackRows[row] = latest;
      this.#previous[row] = this.#previous[latest] ?? -1;
    } else {
      this.#previous[row] = latest;
    }
    this.#steps[row] = replaces || joins ? step : step + 1;
  }

  #isDeletion(row: number): boolean {
    return this.#groups.list[this.#groups.of(row)]?.operation === 'delete';
  }
}
