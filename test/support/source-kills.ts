import { setTimeout as delay } from 'node:timers/promises';
import { KafkaTraffic } from './kafka-traffic.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface RowsOnce {
  /** Column `n` of every row, as who reads what is committed sees them. */
  readonly numbers: readonly number[];
  /** Records that were written, those of aborted transactions among them. */
  readonly uncommitted: number;
}

/** What a reader sees of a json_db source, killed at random points while it sends rows with a column `n`. */
export async function untilRowsOnce(
  sluice: WorkerProcess,
  { topic, rows, kills, settleMs = 1000 }: { topic: string; rows: number; kills: number; settleMs?: number },
): Promise<RowsOnce> {
  const kafka = await KafkaTraffic.shared();
  for (let kill = 0; kill < kills; kill++) {
    const share = Math.floor((rows * (kill + Math.random())) / (kills + 1));
    await kafka.read(topic, ({ length }) => length > share, 60_000);
    await delay(Math.random() * 50);
    await sluice.kill();
    await sluice.start();
  }
  const isolated = { 'isolation.level': 'read_committed' };
  await kafka.read(topic, ({ length }) => length >= rows, 60_000, isolated);
  // More would come now.
  await delay(settleMs);
  const visible = await kafka.all(topic, isolated);
  const written = await kafka.all(topic);
  const numbers = visible.flatMap(({ value }) => {
    const { data } = JSON.parse(value?.toString() ?? '') as { data: { n: number }[] };
    return data.map(({ n }) => n);
  });
  return { numbers, uncommitted: written.length };
}
