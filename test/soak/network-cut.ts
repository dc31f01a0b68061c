import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, endServices } from '../support/services.ts';
import { silenceNetwork } from '../support/silent-network.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_SECONDS = 30;

/** The network between a sink and its database passes nothing on for some time. */
export const networkCut: Repeat = {
  unit: 'seconds',
  defaultCount: DEFAULT_SECONDS,
  async run({ count = DEFAULT_SECONDS, print }: RepeatOptions): Promise<boolean> {
    try {
      const [worker, db, kafka] = await Promise.all([WorkerProcess.start(), database('cut'), KafkaTraffic.shared()]);
      try {
        await silenceNetwork({ worker, db, kafka, silentMs: count * 1000 });
      } finally {
        await worker.discard();
      }
      print(`each row once after ${String(count)} s`);
      return true;
    } finally {
      await endServices();
    }
  },
};
