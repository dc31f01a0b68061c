import type { PolledRecord, SourceBlock } from '../../src/index.ts';

type Sent = PolledRecord | SourceBlock;

interface Group {
  readonly lastCommit: bigint;
  pending: number;
}

/**
 * Finds out how much of the log the server may forget: transactions whose records were acknowledged, and whose offsets were stored.
 *
 * `commit` of a task is called after offsets were stored, and records can have been acknowledged since then. What was acknowledged at
 * the `commit` before is stored for certain.
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

  /** Returns what the server may forget. */
  commit(): bigint | undefined {
    const stored = this.#acknowledgedAtCommit;
    this.#acknowledgedAtCommit = this.#acknowledged;
    return stored;
  }
}
