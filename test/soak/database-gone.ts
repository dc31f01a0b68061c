import { stopDatabase } from '../support/database-outage.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import type { Repeat } from './repeat.ts';
import { withWorker } from './with-worker.ts';

const DEFAULT_SECONDS = 60;

/** Stops the database of a sink and of a source for a minute. */
export const databaseGone: Repeat = {
  unit: 'seconds',
  defaultCount: DEFAULT_SECONDS,
  async run({ count = DEFAULT_SECONDS, print }): Promise<boolean> {
    await withWorker(print, async (worker) => {
      const tookMs = await stopDatabase({ worker, kafka: await KafkaTraffic.shared(), outageMs: count * 1000 });
      print(`each row once; all there ${String(Math.round(tookMs))} ms after the database was started`);
    });
    return true;
  },
};
