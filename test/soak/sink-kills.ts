import { killSinks } from '../support/sink-kills.ts';
import { randomFrom } from '../support/random.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_KILLS = 20;

/** Kills a worker again and again at random points, and compares what its sinks stored with what was produced. */
export const sinkKills: Repeat = {
  unit: 'kills',
  defaultCount: DEFAULT_KILLS,
  async run({ count = DEFAULT_KILLS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    print(`seed ${String(seed)}`);
    await killSinks({ kills: count, random: randomFrom(seed), print });
    return true;
  },
};
