import { logicalPostgres } from '../support/log-source.ts';
import { killLogSource } from '../support/log-source-kills.ts';
import { randomFrom } from '../support/random.ts';
import { ownBroker } from '../support/services.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_KILLS = 100;

/** Kills the worker, the server and the broker of a log source at random, and compares the topic with the table: once, and at least once. */
export const logSource: Repeat = {
  unit: 'kills',
  defaultCount: DEFAULT_KILLS,
  async run({ count: kills = DEFAULT_KILLS, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    print(`seed ${String(seed)}`);
    const random = randomFrom(seed);
    for (const once of [true, false]) {
      const broker = await ownBroker();
      const properties = {
        'bootstrap.servers': broker.bootstrapServers,
        'exactly.once.source.support': once ? 'enabled' : 'disabled',
        'offset.flush.interval.ms': '500',
      };
      const [worker, { server, db }] = await Promise.all([WorkerProcess.start({ properties }), logicalPostgres()]);
      try {
        await killLogSource({ worker, server, db, broker, kills, once, random, print });
      } finally {
        await Promise.all([worker.discard(), server.discard(), broker.discard()]);
      }
    }
    return true;
  },
};
