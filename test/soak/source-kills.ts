import { database } from '../support/services.ts';
import { killSources } from '../support/source-kills.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { randomFrom } from '../support/random.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_KILLS = 20;

/**
 * Repeatedly kills a worker at random times, and compares the records of its source with the tables, for at-least-once
 * and exactly-once delivery.
 */
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
