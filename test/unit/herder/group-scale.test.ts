import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { configuredWork } from '../../../src/herder/group/open-worker-group.ts';
import { CooperativeAssignor, type Distribution } from '../../../src/herder/group/cooperative-assignor.ts';
import {
  encodeAssignment,
  encodeMetadata,
  NO_WORK,
  type MemberAssignment,
  type Work,
} from '../../../src/herder/group/group-bytes.ts';
import { taskKey } from '../../../src/herder/group/task-key.ts';
import { ConfigStore } from '../../../src/herder/stores/config-store.ts';
import { MemoryLog } from '../../../src/herder/stores/record-log.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

const CONNECTORS = 1000;
const TASKS = 10;
const WORKERS = 50;

/** The options of an ordinary sink, about 600 bytes. */
function configOf(index: number): Record<string, string> {
  return {
    'connector.class': 'com.db.kafka.connect.sink.DbSinkConnector',
    topics: `site-${String(index)}-measurements`,
    'tasks.max': String(TASKS),
    'connection.url': `jdbc:db://database-${String(index % 7)}.example.org:5432/measurements`,
    'connection.user': 'measurements_writer',
    'connection.password': `\${file:/etc/sluice/secrets.properties:site-${String(index)}}`,
    'protocol.type': 'line_lp',
    'timestamp.precision': 'ms',
    'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': `site-${String(index)}-refused`,
    'errors.deadletterqueue.context.headers.enable': 'true',
  };
}

/** A store with that many connectors and tasks, as read from the config topic. */
async function filledStore(): Promise<ConfigStore> {
  const store = new ConfigStore((onRecord) => new MemoryLog(onRecord), silentLogger);
  for (let index = 0; index < CONNECTORS; index++) {
    const name = `site-${String(index)}-to-database`;
    await store.putConnector(name, configOf(index));
    const task = (number: number) => ({ ...configOf(index), name, 'task.index': String(number) });
    await store.putTaskConfigs(
      name,
      Array.from({ length: TASKS }, (_, number) => task(number)),
    );
  }
  return store;
}

/** Fifty workers that follow every assignment; `rebalance` gives the milliseconds that their leader needed. */
class Simulation {
  readonly members = new Map<string, Work>();
  last: Distribution | undefined;
  readonly #assignor = new CooperativeAssignor(0);
  readonly #configured: () => Work;
  #generation = 0;

  constructor(configured: () => Work) {
    this.#configured = configured;
  }

  rebalance(): number {
    const startedAt = performance.now();
    const distribution = this.#assignor.assign({
      configured: this.#configured(),
      members: this.members,
      generation: this.#generation + 1,
      lastCompletedGeneration: this.#generation === 0 ? -1 : this.#generation,
    });
    const tookMs = performance.now() - startedAt;
    this.#generation += 1;
    for (const member of this.members.keys()) this.members.set(member, distribution.complete.get(member) ?? NO_WORK);
    this.last = distribution;
    return tookMs;
  }

  assertWhole(): void {
    const seen = new Set<string>();
    for (const { connectors, tasks } of this.members.values()) {
      for (const each of [...connectors, ...tasks.map(taskKey)]) {
        assert.equal(seen.has(each), false, `${each} runs twice`);
        seen.add(each);
      }
    }
    assert.equal(seen.size, CONNECTORS * (1 + TASKS));
    for (const kind of ['connectors', 'tasks'] as const) {
      const sizes = [...this.members.values()].map((work) => work[kind].length);
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, `${kind}: ${sizes.join()}`);
    }
  }
}

describe('a thousand connectors of ten tasks on fifty workers', function () {
  let store: ConfigStore;
  let heapMb: number;

  before(async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    store = await filledStore();
    collect();
    heapMb = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  });

  it('are assigned evenly as members join and leave, by a leader that needs little time for it', () => {
    const work = configuredWork(store);
    const simulation = new Simulation(() => work.work());
    for (let index = 0; index < WORKERS; index++) simulation.members.set(`worker-${String(index)}`, NO_WORK);
    const tookMs: Record<string, number> = { 'first division': simulation.rebalance() };
    simulation.assertWhole();
    tookMs['nothing new'] = simulation.rebalance();
    simulation.members.delete('worker-7');
    tookMs['one lost'] = simulation.rebalance();
    simulation.assertWhole();
    simulation.members.set('worker-50', NO_WORK);
    tookMs['one came'] = simulation.rebalance();
    tookMs['a part of its share dealt out'] = simulation.rebalance();
    for (let rounds = 0; simulation.last?.delayMs !== 0; rounds++) {
      assert.ok(rounds < 1000, 'its share is dealt out in the end');
      simulation.rebalance();
    }
    simulation.assertWhole();
    const figures = Object.entries(tookMs).map(([what, ms]) => `${what} ${ms.toFixed(0)} ms`);
    console.log(`      the leader's division: ${figures.join(', ')}`);
  });

  it('fit into the messages of a group, and into little memory', () => {
    const work = configuredWork(store);
    const simulation = new Simulation(() => work.work());
    for (let index = 0; index < WORKERS; index++) simulation.members.set(`worker-${String(index)}`, NO_WORK);
    simulation.rebalance();
    const assignments = [...simulation.members.values()].map((assigned): MemberAssignment => {
      const leaderUrl = 'http://connect-0.example.org:8083/';
      const leader = `connect-${leaderUrl}-00000000-0000-0000-0000-000000000000`;
      return { error: 'none', leader, leaderUrl, configOffset: 12_000, assigned, revoked: NO_WORK, delayMs: 0 };
    });
    const sizes = assignments.map((assignment) => ({
      assignment: encodeAssignment(assignment, 'sessioned').length,
      metadata: encodeMetadata(
        { url: 'http://connect-0.example.org:8083/', configOffset: 12_000, allocation: assignment },
        'sessioned',
      ).length,
    }));
    const sum = (of: (size: (typeof sizes)[number]) => number) => sizes.reduce((total, size) => total + of(size), 0);
    const [dealt, held] = [sum(({ assignment }) => assignment), sum(({ metadata }) => metadata)];
    const kb = (bytes: number) => `${String(Math.round(bytes / 1000))} kB`;
    console.log(
      `      assignments of all ${kb(dealt)}, what all say they have ${kb(held)}; the config store takes ${heapMb.toFixed(1)} MB`,
    );
    // The default of message.max.bytes, which bounds the coordinator's record of a group.
    assert.ok(dealt < 1_048_588 && held < 1_048_588);
    assert.ok(heapMb < 100, `${heapMb.toFixed(1)} MB`);
  });
});
