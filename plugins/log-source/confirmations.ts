import type { PolledRecord, SourceBlock } from '../../src/index.ts';

type Sent = PolledRecord | SourceBlock;

interface Group {
  readonly lastCommit: bigint;
  pending: number;
}

/**
 * Determines which part of the log the server may remove: transactions whose records were acknowledged and whose offsets were stored.
 *
 * The worker calls `commit` after it has stored offsets. The stored offsets may not include records that were acknowledged during the
 * storing. Therefore only records that were acknowledged before the previous `commit` count as stored.
 */
export class Confirmations {
  readonly #groups: Group[] = [];
  readonly #groupOf = new WeakMap<Sent, Group>();
  #acknowledged: bigint | undefined;
  #acknowledgedAtCommit: bigint | undefined;

  /** @param lastCommit LSN; the records come after all transactions that committed before it */
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

  /** Returns the LSN before which the server may remove its log; `undefined` if it is not known yet. */
  commit(): bigint | undefined {
    const stored = this.#acknowledgedAtCommit;
    this.#acknowledgedAtCommit = this.#acknowledged;
    return stored;
  }
}
