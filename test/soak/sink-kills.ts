import { killSinks } from '../support/sink-kills.ts';
import { randomFrom } from '../support/random.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_KILLS = 20;

/** Repeatedly kills a worker at random times, and compares the rows that its sinks stored with the produced records. */
export const sinkKills: Repeat = {
  unit: 'kills',
  defaultCount: DEFAULT_KILLS,
  async run({ count = DEFAULT_KILLS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    print(`seed ${String(seed)}`);
    await killSinks({ kills: count, random: randomFrom(seed), print });
    return true;
  },
};
