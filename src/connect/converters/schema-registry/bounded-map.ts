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
