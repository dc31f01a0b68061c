import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database } from '../support/services.ts';
import { silenceNetwork } from '../support/silent-network.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';
import { withWorker } from './with-worker.ts';

const DEFAULT_SECONDS = 30;

/** Interrupts the network between a sink and its database for some time without closing connections. */
export const networkCut: Repeat = {
  unit: 'seconds',
  defaultCount: DEFAULT_SECONDS,
  run: ({ count = DEFAULT_SECONDS, print }) => silence(count * 1000, print),
};

/** Makes the network forget the connections between a sink and its database, while new connections work. */
export const networkForgets: Repeat = {
  unit: 'times',
  defaultCount: 1,
  async run({ count = 1, print }): Promise<boolean> {
    for (let time = 0; time < count; time++) await silence('forgotten', print);
    return true;
  },
};

async function silence(silentMs: number | 'forgotten', print: RepeatOptions['print']): Promise<boolean> {
  await withWorker(print, async (worker) => {
    const [db, kafka] = await Promise.all([database('cut'), KafkaTraffic.shared()]);
    const withoutRowsMs = await silenceNetwork({ worker, db, kafka, silentMs });
    print(`each row once; rows flowed again after ${String(Math.round(withoutRowsMs / 1000))} s`);
  });
  return true;
}
