/** Returns a generator of numbers from 0 to 1, without 1, that are reproducible by the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random choices that are reproducible by a seed. */
export class Draw {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  /** Returns a whole number between both bounds, including them. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  pick<T extends object | string | number>(from: readonly T[]): T {
    const picked = from[this.between(0, from.length - 1)];
    if (picked === undefined) throw new Error('There is nothing to choose from');
    return picked;
  }

  /** Returns a seed for another generator. */
  seed(): number {
    return this.between(0, 2 ** 31 - 1);
  }
}
