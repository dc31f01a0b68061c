import { killSinks } from '../support/sink-kills.ts';
import { endServices } from '../support/services.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_KILLS = 20;

/** Kills a worker again and again at random points, and compares what its sinks stored with what was produced. */
export const sinkKills: Repeat = {
  unit: 'kills',
  defaultCount: DEFAULT_KILLS,
  async run({ count = DEFAULT_KILLS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    print(`seed ${String(seed)}`);
    try {
      await killSinks({ kills: count, random: randomFrom(seed), print });
      return true;
    } finally {
      await endServices();
    }
  },
};

/** Numbers between 0 and 1 that a seed gives again (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
