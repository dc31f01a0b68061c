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
