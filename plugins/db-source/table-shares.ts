/**
 * Distributes tables to tasks so that the numbers of their tables differ by at most one. As long as that is the case, tables keep
 * their task. The state exists as long as the connector instance.
 */
export class TableShares {
  #taskOf = new Map<string, number>();

  /** Returns the tables of each task, sorted; at most `maxTasks` lists, none of them empty. */
  distribute(tables: readonly string[], maxTasks: number): string[][] {
    const tasks = Math.min(tables.length, maxTasks);
    const shares = Array.from({ length: tasks }, (): string[] => []);
    const limit = Math.ceil(tables.length / Math.max(tasks, 1));
    const unassigned: string[] = [];
    for (const table of [...tables].sort()) {
      const share = shares[this.#taskOf.get(table) ?? -1];
      if (share !== undefined && share.length < limit) share.push(table);
      else unassigned.push(table);
    }
    for (const table of unassigned) {
      const smallest = shares.reduce((best, share) => (share.length < best.length ? share : best));
      smallest.push(table);
    }
    balance(shares);
    this.#taskOf = new Map(shares.flatMap((share, task) => share.map((table) => [table, task] as const)));
    return shares.map((share) => share.sort());
  }
}

/** Moves tables from the largest share to the smallest one until the shares differ by at most one table. */
function balance(shares: string[][]): void {
  for (;;) {
    const byLength = [...shares].sort((a, b) => a.length - b.length);
    const smallest = byLength[0];
    const largest = byLength.at(-1);
    if (smallest === undefined || largest === undefined || largest.length - smallest.length <= 1) return;
    const moved = largest.pop();
    if (moved !== undefined) smallest.push(moved);
  }
}
