const SLOT_MS = 1000;

/** Sum of the time spans within a limited number of recent seconds. All times are milliseconds of a monotonic clock. */
export class RecentTime {
  readonly #slots: Float64Array;
  /** Index of the newest slot. Slot 0 begins at time 0 of the clock. */
  #newest = 0;

  constructor(seconds: number) {
    this.#slots = new Float64Array(seconds);
  }

  add(fromMs: number, toMs: number): void {
    this.#advance(toMs);
    const oldest = (this.#newest - this.#slots.length + 1) * SLOT_MS;
    for (let at = Math.max(fromMs, oldest); at < toMs;) {
      const slot = Math.floor(at / SLOT_MS);
      const end = Math.min(toMs, (slot + 1) * SLOT_MS);
      const index = slot % this.#slots.length;
      this.#slots[index] = (this.#slots[index] ?? 0) + end - at;
      at = end;
    }
  }

  /** The sum in milliseconds. */
  sum(nowMs: number): number {
    this.#advance(nowMs);
    return this.#slots.reduce((sum, each) => sum + each, 0);
  }

  #advance(nowMs: number): void {
    const slot = Math.floor(nowMs / SLOT_MS);
    const passed = Math.min(slot - this.#newest, this.#slots.length);
    for (let count = 1; count <= passed; count++) this.#slots[(this.#newest + count) % this.#slots.length] = 0;
    this.#newest = Math.max(this.#newest, slot);
  }
}
