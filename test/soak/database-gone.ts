import { stopDatabase } from '../support/database-outage.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Repeat } from './repeat.ts';

const DEFAULT_SECONDS = 60;

/** The database of a sink and of a source is stopped for a minute. */
export const databaseGone: Repeat = {
  unit: 'seconds',
  defaultCount: DEFAULT_SECONDS,
  async run({ count = DEFAULT_SECONDS, print }): Promise<boolean> {
    const [worker, kafka] = await Promise.all([WorkerProcess.start(), KafkaTraffic.shared()]);
    try {
      const tookMs = await stopDatabase({ worker, kafka, outageMs: count * 1000 });
      print(`each row once; all there ${String(Math.round(tookMs))} ms after the database was started`);
    } catch (error) {
      print(worker.logTail());
      throw error;
    } finally {
      await worker.discard();
    }
    return true;
  },
};
