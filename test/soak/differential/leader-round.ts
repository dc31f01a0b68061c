import { setTimeout as delay } from 'node:timers/promises';
import { BROKER_IDS } from '../../support/broker-cluster.ts';
import { uniqueName } from '../../support/services.ts';
import { Draw } from '../../support/random.ts';
import type { ReplicatedClients } from './clients.ts';
import { javaReads, readerSettings } from './consumer-round.ts';
import { producerRound } from './producer-round.ts';
import { described, Difference, lineOf, requireEqualLines } from './record-lines.ts';
import { replicatedPlan } from './topic-plan.ts';

export const KILL_EVERY = 10;
const READ_MS = 120_000;

/**
 * Records are written while partitions change their leaders and, with one seed in ten, a broker is killed. Either
 * Java's producers write and our consumer reads meanwhile, or our producers write. Resolves with the number of compared
 * records.
 */
export async function leaderRound(seed: number, clients: ReplicatedClients): Promise<number> {
  const draw = new Draw(seed);
  const replicas = Array.from({ length: draw.pick([1, 2, 3]) }, () => {
    const first = draw.between(0, 2);
    return [...BROKER_IDS.slice(first), ...BROKER_IDS.slice(0, first)];
  });
  const disturb = (topic: string, writing: Promise<unknown>): Promise<void> =>
    moveLeaders(clients, new Draw(seed), topic, replicas.length, writing, seed % KILL_EVERY === 0);
  if (draw.chance(0.5)) return producerRound(seed, clients, { replicas, disturb });
  return consumerRound(seed, draw, clients, replicas, disturb);
}

async function consumerRound(
  seed: number,
  draw: Draw,
  { client, peer }: ReplicatedClients,
  replicas: readonly (readonly number[])[],
  disturb: (topic: string, writing: Promise<unknown>) => Promise<void>,
): Promise<number> {
  const topic = uniqueName(`differential-${String(seed)}`);
  const plan = replicatedPlan(draw, topic, replicas);
  const settings = {
    ...readerSettings(draw),
    'isolation.level': draw.pick(['read_uncommitted', 'read_committed']),
    'metadata.max.age.ms': '1000',
  };
  const consumer = client.consumer(settings);
  const lines = replicas.map((): string[] => []);
  const places = replicas.map((_none, partition) => ({ topic, partition }));
  const poll = async (): Promise<void> => {
    for (const record of await consumer.poll(100)) lines[record.partition]?.push(lineOf(record));
  };
  try {
    await peer.command('write', { ...plan, steps: plan.steps.slice(0, 1) });
    consumer.assign(places);
    let isWritten = false;
    const writing = peer.command('write', { ...plan, steps: plan.steps.slice(1) }).finally(() => (isWritten = true));
    const disturbing = disturb(topic, writing);
    const reading = (async () => {
      while (!isWritten) await poll();
    })();
    await Promise.all([writing, disturbing, reading]);
    const java = await javaReads(peer, plan, settings);
    const deadline = Date.now() + READ_MS;
    while (places.some((place) => (consumer.position(place) ?? -1) < (java[place.partition]?.end ?? 0))) {
      await poll();
      if (Date.now() > deadline) throw new Difference('this consumer did not read to the end');
    }
    for (const [partition, read] of java.entries()) requireEqualLines(partition, lines[partition] ?? [], read.lines);
    return lines.reduce((sum, own) => sum + own.length, 0);
  } catch (error) {
    throw described(error, seed, { settings, plan });
  } finally {
    await consumer.close(5_000);
    await peer.command('end', { topic }).catch(() => undefined);
  }
}

/** Moves leaders until the records are written. */
async function moveLeaders(
  { cluster, peer }: ReplicatedClients,
  draw: Draw,
  topic: string,
  partitions: number,
  writing: Promise<unknown>,
  withKill: boolean,
): Promise<void> {
  let isWriting = true;
  const ended = writing.then(
    () => (isWriting = false),
    () => (isWriting = false),
  );
  if (withKill) {
    const id = draw.pick(BROKER_IDS);
    await cluster.kill(id);
    await Promise.race([ended, delay(draw.between(0, 6_000))]);
    await cluster.start(id);
    await cluster.untilInSync([topic, '__transaction_state'].slice(0, isWriting ? 1 : 2));
  }
  do {
    await peer.command('move', { topic, partition: draw.between(0, partitions - 1) });
    await Promise.race([ended, delay(draw.between(0, 100))]);
  } while (isWriting);
}
