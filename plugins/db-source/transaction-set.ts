/** Transaction ids in rows have 32 bits and wrap around. Ids below 3 are reserved. */
export const XID_MODULUS = 4_294_967_296n;

/** Returns true if a row with this xmin was written by this transaction or a later one. */
export function isWrittenFrom(writer: number, transaction: bigint): boolean {
  return writer > 2 && ((writer - Number(transaction % XID_MODULUS)) | 0) >= 0;
}

/** Maximum number of transactions. Further ones are not recorded, so their rows may be sent twice. */
const MAX_TRANSACTIONS = 100_000;
/** Maximum number of runs in the text, with about 8 bytes each, so that an offset stays well below 1 MB. */
const MAX_RUNS = 10_000;
const FORM = /^(?:\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)?$/;

/**
 * A growing set of transaction ids. Members are 32-bit numbers, as in xmin. The text of the set lists ranges of ids relative to
 * the first id: `0-4,7`.
 */
export class TransactionSet {
  readonly #first: bigint;
  readonly #members = new Set<number>();

  constructor(first: bigint) {
    this.#first = first;
  }

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
    if (this.#members.size < MAX_TRANSACTIONS) this.#members.add(transaction);
  }

  /** Returns the subset of the transactions from `first` on. */
  from(first: bigint): TransactionSet {
    if (first === this.#first) return this;
    const set = new TransactionSet(first);
    for (const transaction of this.#members) if (isWrittenFrom(transaction, first)) set.#members.add(transaction);
    return set;
  }

  /**
   * Returns a function for the text of the current set, which is built on demand, because every page has an offset but
   * few are stored. `undefined` if the set is empty.
   */
  text(): (() => string) | undefined {
    const { size } = this.#members;
    let text: string | undefined;
    return size === 0 ? undefined : () => (text ??= this.#textOf(size));
  }

  #textOf(count: number): string {
    const low = Number(BigInt.asUintN(32, this.#first));
    const distances = new Int32Array(count);
    let index = 0;
    for (const transaction of this.#members) {
      if (index === count) break;
      distances[index++] = transaction - low;
    }
    distances.sort();
    const runs: string[] = [];
    for (let start = 0; start < count && runs.length < MAX_RUNS;) {
      let end = start;
      while (end + 1 < count && distances[end + 1] === (distances[end] ?? 0) + 1) end++;
      runs.push(end === start ? String(distances[start]) : `${String(distances[start])}-${String(distances[end])}`);
      start = end + 1;
    }
    return runs.join(',');
  }
}
