import type { Look } from './table-watch.ts';
import type { StoredPosition } from './position.ts';
import { isWrittenFrom } from './table-query.ts';

/** Versions remembered per table; beyond it the oldest are forgotten, and may be sent twice. */
const MAX_VERSIONS = 100_000;

/**
 * What was sent of the recent past of one table, so that rows committed behind its position can be told from those sent.
 *
 * It holds that of the rows up to the position and after `from`, all that were written by transactions below `transaction`
 * were sent, and that the versions of all others that were sent are remembered. A look back sends the others; then all that
 * had ended when the database was last looked at is settled, and its versions are forgotten.
 */
export class LateRows {
  readonly #delayMicros: bigint;
  readonly #versions = new Set<string>();
  #transaction: bigint;
  #from: bigint;

  /** Takes up where a stored position ended, or begins now. */
  constructor(delayMs: number, now: bigint, oldest: bigint, next: bigint, stored: StoredPosition | undefined) {
    this.#delayMicros = BigInt(delayMs) * 1000n;
    const { transaction, position } = stored ?? {};
    // One that has not begun yet is another server's.
    const isKnown = transaction !== undefined && transaction <= next && position?.at !== undefined;
    this.#transaction = isKnown ? transaction : oldest;
    const until = isKnown && position.at !== undefined && position.at < now ? position.at : now;
    this.#from = until - this.#delayMicros;
  }

  /** All rows up to the position were sent that transactions below this one had written. */
  get transaction(): bigint {
    return this.#transaction;
  }

  /** Rows up to this time are not looked at again. */
  get from(): bigint {
    return this.#from;
  }

  get isCrowded(): boolean {
    return this.#versions.size > MAX_VERSIONS / 2;
  }

  wasSent(version: string): boolean {
    return this.#versions.has(version);
  }

  /** A row was sent; `null`: it lies too far back to be looked at again. */
  sent(version: string | null): void {
    if (version === null || !isWrittenFrom(version, this.#transaction)) return;
    this.#versions.add(version);
    if (this.#versions.size <= MAX_VERSIONS) return;
    const oldest = this.#versions.values().next();
    if (oldest.done !== true) this.#versions.delete(oldest.value);
  }

  /** The past up to the position was looked through after `look` was taken. */
  settle({ nowMicros, transactions }: Look): void {
    if (transactions === undefined) return;
    this.#transaction = transactions.oldest;
    this.#from = nowMicros - this.#delayMicros;
    for (const version of this.#versions) {
      if (!isWrittenFrom(version, this.#transaction)) this.#versions.delete(version);
    }
  }
}
