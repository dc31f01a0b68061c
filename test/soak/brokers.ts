import { setTimeout as delay } from 'node:timers/promises';
import { BROKER_IDS, BrokerCluster } from '../support/broker-cluster.ts';
import { ClusterLoad, REPLICATED_WORKER } from '../support/cluster-load.ts';
import { onServer, ownPostgres } from '../support/services.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { randomFrom } from '../support/random.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_MINUTES = 30;
/** After this time, everything is repaired, and rows must flow through every connector. */
const ROUND_MS = 60_000;

/** Minimum and maximum times for which a victim stays dead, and then alive. */
interface Rhythm {
  readonly deadMs: readonly [number, number];
  readonly aliveMs: readonly [number, number];
}

const BROKERS: Rhythm = { deadMs: [500, 10_000], aliveMs: [500, 8_000] };
const WORKERS: Rhythm = { deadMs: [0, 6_000], aliveMs: [4_000, 20_000] };
const DATABASE: Rhythm = { deadMs: [0, 5_000], aliveMs: [8_000, 30_000] };

/** Something that is killed by SIGKILL and restarted. */
interface Victim {
  readonly rhythm: Rhythm;
  readonly kill: (random: () => number) => Promise<{ readonly name: string; readonly revive: () => Promise<void> }>;
}

/**
 * Kills brokers (one at a time), workers and the database at random and independently of each other, while rows flow
 * through sinks and sources of both kinds. Then counts the rows.
 */
export const brokers: Repeat = {
  unit: 'minutes',
  defaultCount: DEFAULT_MINUTES,
  async run({ count = DEFAULT_MINUTES, seed = Date.now() | 0, print }: RepeatOptions): Promise<boolean> {
    print(`seed ${String(seed)}`);
    const random = randomFrom(seed);
    const started: (() => Promise<void>)[] = [];
    const workers: WorkerProcess[] = [];
    try {
      const cluster = await BrokerCluster.start(print);
      started.push(() => cluster.discard());
      const postgres = await ownPostgres();
      started.push(() => postgres.discard());
      const common = { 'bootstrap.servers': cluster.bootstrapServers, ...REPLICATED_WORKER };
      const once = await WorkerCluster.start(2, { ...common, 'exactly.once.source.support': 'enabled' });
      started.push(() => once.discard());
      const plain = await WorkerCluster.start(1, common);
      started.push(() => plain.discard());
      workers.push(...once.workers, ...plain.workers);
      const load = new ClusterLoad(cluster, onServer(postgres, 'postgres'), once, plain);
      started.push(() => load.close());
      await load.start();
      const topics = [...load.sinkTopics, ...load.sourceTopics, '__consumer_offsets', '__transaction_state'];
      const victims: readonly Victim[] = [
        {
          rhythm: BROKERS,
          async kill(draw) {
            const id = pick(BROKER_IDS, draw);
            await cluster.kill(id);
            const revive = async (): Promise<void> => {
              await cluster.start(id);
              await cluster.untilInSync(topics);
            };
            return { name: `broker ${String(id)}`, revive };
          },
        },
        {
          rhythm: WORKERS,
          async kill(draw) {
            const worker = pick(workers, draw);
            await worker.kill();
            return { name: `worker ${String(workers.indexOf(worker))}`, revive: () => worker.start() };
          },
        },
        {
          rhythm: DATABASE,
          async kill() {
            await postgres.kill();
            return { name: 'database', revive: () => postgres.start() };
          },
        },
      ];
      const until = Date.now() + count * 60_000;
      const kills = new Map<string, number>();
      while (Date.now() < until) {
        const over = Math.min(until, Date.now() + ROUND_MS);
        const storms = victims.map((victim) =>
          storm(victim, over, randomFrom(Math.floor(random() * 2 ** 31)), kills, print),
        );
        await Promise.all(storms);
        const tookMs = Object.entries(await load.untilFlows()).map(([name, ms]) => `${name} ${String(ms)}`);
        const { produced, inserted } = load.rows;
        print(
          `${String(produced)} produced, ${String(inserted)} inserted; rows flow again after ms: ${tookMs.join(', ')}`,
        );
      }
      const counts = await load.finish();
      print(`killed: ${[...kills].map(([name, times]) => `${name} ${String(times)} times`).join(', ')}`);
      for (const { where, rows, lost, doubled } of counts) {
        print(`${where}: ${String(rows)} rows, ${sample('lost', lost)}, ${sample('doubled', doubled)}`);
      }
      // At-least-once sources may send a row again.
      return counts.every(
        ({ where, lost, doubled }) => lost.length === 0 && (doubled.length === 0 || where.includes(load.plainSource)),
      );
    } catch (error) {
      for (const worker of workers) print(`worker ${worker.url}, its log ends:\n${worker.logTail(30)}`);
      throw error;
    } finally {
      for (const end of started.reverse()) await end();
    }
  },
};

async function storm(
  { rhythm, kill }: Victim,
  until: number,
  random: () => number,
  kills: Map<string, number>,
  print: (line: string) => void,
): Promise<void> {
  const between = ([least, most]: readonly [number, number]): number => Math.round(least + random() * (most - least));
  for (;;) {
    await delay(between(rhythm.aliveMs));
    if (Date.now() >= until) return;
    const { name, revive } = await kill(random);
    kills.set(name, (kills.get(name) ?? 0) + 1);
    const deadMs = between(rhythm.deadMs);
    print(`${new Date().toISOString()} killed ${name} for ${String(deadMs)} ms`);
    await delay(deadMs);
    await revive();
  }
}

function pick<T>(from: readonly T[], random: () => number): T {
  const chosen = from[Math.floor(random() * from.length)];
  if (chosen === undefined) throw new Error('Nothing to choose from');
  return chosen;
}

function sample(what: string, numbers: readonly number[]): string {
  const first = numbers.length === 0 ? '' : ` (${numbers.slice(0, 20).join(', ')}${numbers.length > 20 ? ', …' : ''})`;
  return `${String(numbers.length)} ${what}${first}`;
}
