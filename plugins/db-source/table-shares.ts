/**
 * Deals tables to tasks so that shares are even within one and a table stays where it is as long as that holds. State lives
 * as long as the connector instance.
 */
export class TableShares {
  #taskOf = new Map<string, number>();

  /** The tables of each task, sorted; at most `maxTasks` lists, none of them empty. */
  deal(tables: readonly string[], maxTasks: number): string[][] {
    const tasks = Math.min(tables.length, maxTasks);
    const shares = Array.from({ length: tasks }, (): string[] => []);
    const limit = Math.ceil(tables.length / Math.max(tasks, 1));
    const homeless: string[] = [];
    for (const table of [...tables].sort()) {
      const share = shares[this.#taskOf.get(table) ?? -1];
      if (share !== undefined && share.length < limit) share.push(table);
      else homeless.push(table);
    }
    for (const table of homeless) {
      const smallest = shares.reduce((best, share) => (share.length < best.length ? share : best));
      smallest.push(table);
    }
    fillEmpty(shares);
    this.#taskOf = new Map(shares.flatMap((share, task) => share.map((table) => [table, task] as const)));
    return shares.map((share) => share.sort());
  }
}

/** Takes from the largest shares until they are within one of each other. */
function fillEmpty(shares: string[][]): void {
  for (;;) {
    const byLength = [...shares].sort((a, b) => a.length - b.length);
    const smallest = byLength[0];
    const largest = byLength.at(-1);
    if (smallest === undefined || largest === undefined || largest.length - smallest.length <= 1) return;
    const moved = largest.pop();
    if (moved !== undefined) smallest.push(moved);
  }
}
