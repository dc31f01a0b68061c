import type { PolledRecord, SourceBlock } from '../../src/index.ts';

type Sent = PolledRecord | SourceBlock;

interface Group {
  readonly lastCommit: bigint;
  pending: number;
}

/**
 * Finds out how much of the log the server may forget: transactions whose records were acknowledged, and whose offsets were stored.
 *
 * The worker calls `commit` after it has stored offsets. Records that were acknowledged while it stored them may not be included.
 * Therefore only what was acknowledged at the previous `commit` counts as stored.
 */
export class Confirmations {
  readonly #groups: Group[] = [];
  readonly #groupOf = new WeakMap<Sent, Group>();
  #acknowledged: bigint | undefined;
  #acknowledgedAtCommit: bigint | undefined;

  /** @param lastCommit all transactions that committed before this place precede the records */
  sent(records: readonly Sent[], lastCommit: bigint): void {
    if (records.length === 0) return;
    let group = this.#groups.at(-1);
    if (group?.lastCommit !== lastCommit) {
      group = { lastCommit, pending: 0 };
      this.#groups.push(group);
    }
    group.pending += records.length;
    for (const record of records) this.#groupOf.set(record, group);
  }

  acknowledged(record: Sent): void {
    const group = this.#groupOf.get(record);
    if (group === undefined) return;
    this.#groupOf.delete(record);
    group.pending -= 1;
    while (this.#groups[0]?.pending === 0) {
      this.#acknowledged = this.#groups[0].lastCommit;
      this.#groups.shift();
    }
  }

  /** Returns the place before which the server may remove its log; `undefined`: none is known. */
  commit(): bigint | undefined {
    const stored = this.#acknowledgedAtCommit;
    this.#acknowledgedAtCommit = this.#acknowledged;
    return stored;
  }
}
