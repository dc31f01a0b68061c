interface Entry<V> {
  readonly value: V;
  readonly size: number;
  isUsed: boolean;
}

/**
 * A map of limited size that keeps the entries in use.
 *
 * Entries are evicted by a clock sweep, as in PostgreSQL's buffer cache: in the order in which they were added, but an
 * entry that was read in the meantime is spared once and moves to the end. The result is close to "least recently used", but
 * a lookup costs no more than in a plain map. This matters to decoders, which look up an entry for each row.
 */
export class BoundedMap<K, V> {
  readonly #limit: number;
  readonly #sizeOf: (value: V, key: K) => number;
  readonly #entries = new Map<K, Entry<V>>();
  #size = 0;

  /** `limit` applies to the sum of the sizes. By default, each entry has the size 1, and at least one entry is kept. */
  constructor(limit: number, sizeOf?: (value: V, key: K) => number) {
    this.#limit = sizeOf === undefined ? Math.max(1, limit) : limit;
    this.#sizeOf = sizeOf ?? (() => 1);
  }

  /** The sum of the sizes of all entries. */
  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** Adds or replaces an entry. A value that is larger than the limit is not stored, and the key then has no entry. */
  set(key: K, value: V): void {
    const isUsed = this.delete(key);
    const size = this.#sizeOf(value, key);
    if (size > this.#limit) return;
    this.#evictTo(this.#limit - size);
    this.#entries.set(key, { value, size, isUsed });
    this.#size += size;
  }

  /** Returns the value of the key. If there is none, it is created and added. */
  getOrCreate(key: K, create: () => V): V {
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      entry.isUsed = true;
      return entry.value;
    }
    const value = create();
    this.set(key, value);
    return value;
  }

  /** Returns true if the deleted entry existed. */
  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#size -= entry.size;
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#size = 0;
  }

  keys(): IterableIterator<K> {
    return this.#entries.keys();
  }

  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  #evictTo(limit: number): void {
    for (const [key, entry] of this.#entries) {
      if (this.#size <= limit) return;
      this.#entries.delete(key);
      if (entry.isUsed) {
        entry.isUsed = false;
        // Moves the entry to the end, where this loop visits it again.
        this.#entries.set(key, entry);
      } else {
        this.#size -= entry.size;
      }
    }
  }
}
