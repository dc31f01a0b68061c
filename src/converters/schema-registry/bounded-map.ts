/** A map that keeps the entries used last, at most `size` of them (at least one). */
export class BoundedMap<K, V> {
  readonly #size: number;
  readonly #entries = new Map<K, V>();

  constructor(size: number) {
    this.#size = Math.max(1, size);
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#size) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}

/** Keeps the values used last, at most `size` of them. */
export class LruCache<V> {
  readonly #size: number;
  readonly #values = new Map<string, V>();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string, make: () => V): V {
    const kept = this.#values.get(key);
    if (kept !== undefined || this.#values.has(key)) {
      this.#values.delete(key);
      this.#values.set(key, kept as V);
      return kept as V;
    }
    const made = make();
    this.#values.set(key, made);
    if (this.#values.size > this.#size) this.#values.delete(this.#values.keys().next().value ?? key);
    return made;
  }
}
