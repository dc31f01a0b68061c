import { setTimeout as delay } from 'node:timers/promises';
import { RequestLoad } from '../support/request-load.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const DEFAULT_REQUESTS = 300;
const REQUESTS_PER_CONNECTOR = 5;
const AT_ONCE = 6;
const PROPERTIES = { 'session.timeout.ms': '6000', 'scheduled.rebalance.max.delay.ms': '0' };

/**
 * Sends requests to three workers while a fourth one is stopped or killed and restarted, in turn. Each request must get
 * the response of a single worker. Then does the same while the leader is replaced, with clients that retry during a
 * rebalance.
 */
export const clusterRequests: Repeat = {
  unit: 'requests',
  defaultCount: DEFAULT_REQUESTS,
  async run({ count = DEFAULT_REQUESTS, print }: RepeatOptions): Promise<boolean> {
    const cluster = await WorkerCluster.start(4, PROPERTIES);
    try {
      const connectors = Math.ceil(count / REQUESTS_PER_CONNECTOR);
      await whileOneRoams(cluster, connectors, false, print);
      await whileOneRoams(cluster, connectors, true, print);
    } finally {
      await cluster.discard();
    }
    return true;
  },
};

async function whileOneRoams(
  cluster: WorkerCluster,
  connectors: number,
  isLeader: boolean,
  print: (line: string) => void,
): Promise<void> {
  let away = -1;
  let turns = 0;
  let ended = false;
  const all = [...cluster.workers.keys()];
  const asked = () => (isLeader ? all.filter((index) => index !== away) : all.slice(0, 3));
  const roaming = (async () => {
    while (!ended) {
      away = isLeader ? await leaderOf(cluster) : 3;
      turns += 1;
      if (turns % 2 === 0) await cluster.worker(away).kill();
      else await cluster.worker(away).terminate();
      await cluster.worker(away).start();
      away = -1;
      await delay(500);
    }
  })();
  const load = new RequestLoad(cluster, { connectors, atOnce: AT_ONCE, asked, persistent: isLeader });
  const startedAt = Date.now();
  const done = load.run().finally(() => (ended = true));
  await Promise.all([done, roaming]);
  const generation = (await cluster.rest(0).get<{ generation: number }>('/cluster')).body.generation;
  const who = isLeader ? 'the leader' : 'a worker';
  print(
    `${String(load.requests)} requests (${String(load.repeats)} repeated) answered right while ${who} went ${String(turns)} times; generation ${String(generation)}, ${String(Math.round((Date.now() - startedAt) / 1000))} s`,
  );
}

async function leaderOf(cluster: WorkerCluster): Promise<number> {
  const { body } = await cluster.rest(0).get<{ leader_url: string }>('/cluster');
  const index = cluster.workers.findIndex(({ url }) => body.leader_url.startsWith(url));
  return Math.max(0, index);
}
