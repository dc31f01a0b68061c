import { database } from '../support/services.ts';
import { killSources } from '../support/source-kills.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { randomFrom } from '../support/random.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_KILLS = 20;

/** Kills a worker again and again at random points, and compares what its source wrote with the tables: at least once, and once. */
export const sourceKills: Repeat = {
  unit: 'kills',
  defaultCount: DEFAULT_KILLS,
  async run({ count: kills = DEFAULT_KILLS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    print(`seed ${String(seed)}`);
    const random = randomFrom(seed);
    for (const once of [true, false]) {
      const properties = { 'exactly.once.source.support': once ? 'enabled' : 'disabled' };
      const worker = await WorkerProcess.start({ properties });
      try {
        await killSources({ worker, db: await database('kills'), kills, once, random, print });
      } finally {
        await worker.discard();
      }
    }
    return true;
  },
};
