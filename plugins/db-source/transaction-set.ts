import { isWrittenFrom } from './table-query.ts';

/** Beyond it the oldest are forgotten, and their rows may be sent twice. */
const MAX_TRANSACTIONS = 100_000;
/** Runs of transactions that an offset tells of, some 8 bytes each: a record of the offsets topic stays well below 1 MB. */
const MAX_RUNS = 10_000;
const FORM = /^(?:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)?$/;

/** Transactions from a first one on, by the 32 bits that rows have of them. As text: distances from the first, `0-4,7`. */
export class TransactionSet {
  readonly #first: bigint;
  readonly #members = new Set<number>();

  constructor(first: bigint) {
    this.#first = first;
  }

  /** Whether this is the text of a set. */
  static isText(text: string): boolean {
    return FORM.test(text);
  }

  static parse(first: bigint, text: string): TransactionSet {
    const set = new TransactionSet(first);
    const low = Number(BigInt.asUintN(32, first));
    for (const run of text === '' ? [] : text.split(',')) {
      const [start = 0, end = start] = run.split('-').map(Number);
      for (let distance = start; distance <= end && set.#members.size < MAX_TRANSACTIONS; distance++) {
        set.#members.add((low + distance) >>> 0);
      }
    }
    return set;
  }

  get isCrowded(): boolean {
    return this.#members.size > MAX_TRANSACTIONS / 2;
  }

  has(transaction: number): boolean {
    return this.#members.has(transaction);
  }

  add(transaction: number): void {
    this.#members.add(transaction);
    if (this.#members.size <= MAX_TRANSACTIONS) return;
    const oldest = this.#members.values().next();
    if (oldest.done !== true) this.#members.delete(oldest.value);
  }

  /** Those from a later first one on. */
  from(first: bigint): TransactionSet {
    if (first === this.#first) return this;
    const set = new TransactionSet(first);
    for (const transaction of this.#members) if (isWrittenFrom(transaction, first)) set.#members.add(transaction);
    return set;
  }

  toString(): string {
    if (this.#members.size === 0) return '';
    const low = Number(BigInt.asUintN(32, this.#first));
    const distances = Int32Array.from(this.#members, (transaction) => transaction - low).sort();
    const runs: string[] = [];
    for (let start = 0; start < distances.length && runs.length < MAX_RUNS;) {
      let end = start;
      while (end + 1 < distances.length && distances[end + 1] === (distances[end] ?? 0) + 1) end++;
      runs.push(end === start ? String(distances[start]) : `${String(distances[start])}-${String(distances[end])}`);
      start = end + 1;
    }
    return runs.join(',');
  }
}
