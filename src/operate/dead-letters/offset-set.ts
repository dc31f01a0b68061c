/** Number of offsets in one part of the set. */
const PART_OFFSETS = 32_768;

/** A set of offsets of partitions, one bit each, because many of them are close together. */
export class OffsetSet {
  readonly #parts = new Map<string, Uint32Array>();
  size = 0;

  add(partition: number, offset: number): void {
    const key = `${String(partition)}/${String(Math.floor(offset / PART_OFFSETS))}`;
    let part = this.#parts.get(key);
    if (part === undefined) this.#parts.set(key, (part = new Uint32Array(PART_OFFSETS / 32)));
    const bit = offset % PART_OFFSETS;
    const word = part[bit >>> 5] ?? 0;
    const mask = 1 << (bit & 31);
    if ((word & mask) !== 0) return;
    part[bit >>> 5] = word | mask;
    this.size++;
  }
}
