import assert from 'node:assert/strict';
import { matchingOptions, matchingPlugins } from '../../src/cluster/plugin-search.ts';
import { rebalanceEvents } from '../../src/cluster/rebalance-events.ts';
import { rebalanceText } from '../../src/cluster/rebalance-text.ts';
import { topicProblems } from '../../src/cluster/topic-problems.ts';
import type { InternalTopicsAnswer, WorkerDetail } from '../../src/common/answers.ts';
import { bytesText } from '../../src/common/bytes-text.ts';

type InternalTopic = InternalTopicsAnswer['topics'][number];

const TOPIC: InternalTopic = {
  name: 'configs',
  property: 'config.storage.topic',
  state: 'exists',
  partitions: 1,
  replicas: 3,
  leaderless: 0,
  singlePartition: true,
  cleanupPolicy: 'compact',
  minInsyncReplicas: 2,
  bytes: 10,
};

describe('problems of an internal topic', () => {
  const problems = (change: Partial<InternalTopic>, brokers = 3) => topicProblems({ ...TOPIC, ...change }, brokers);

  it('are absent if it is compacted and replicated', () => {
    assert.deepEqual(problems({}), []);
    assert.deepEqual(problems({ replicas: 1, minInsyncReplicas: 1 }, 1), []);
  });

  it('name the deletion of its records, with the command that fixes it', () => {
    const [first] = problems({ cleanupPolicy: 'delete' });
    assert.match(
      first ?? '',
      /cleanup\.policy is delete.*kafka-configs\.sh .*--entity-name configs --add-config cleanup\.policy=compact/,
    );
  });

  it('name its dependence on a single broker', () => {
    assert.match(problems({ replicas: 1 })[0] ?? '', /one replica on 3 brokers/);
    assert.match(problems({ minInsyncReplicas: 3 })[0] ?? '', /min\.insync\.replicas is 3 of 3/);
    assert.match(problems({ leaderless: 1 })[0] ?? '', /no leader/);
    assert.match(problems({ partitions: 4 })[0] ?? '', /must have 1/);
  });

  it('are only its absence if it is missing', () => {
    assert.equal(problems({ state: 'missing', partitions: 0, replicas: 0, cleanupPolicy: null }).length, 1);
  });
});

describe('a rebalance in words', () => {
  const REBALANCE = {
    at: 0,
    generation: 7,
    led: false,
    reason: 'a worker joined or left',
    durationMs: 120,
    delayMs: 0,
    assigned: [],
    assignedCount: 0,
    revoked: [],
    revokedCount: 0,
  };

  it('says what moved, how long it took and what comes next', () => {
    assert.equal(rebalanceText(REBALANCE), 'nothing moved here · took 120 ms · generation 7');
    const moved = {
      assigned: ['a-0', 'a-1'],
      assignedCount: 2,
      revoked: ['b'],
      revokedCount: 1,
      led: true,
      delayMs: 5000,
    };
    assert.equal(
      rebalanceText({ ...REBALANCE, ...moved, durationMs: 2500 }),
      'got 2: a-0, a-1; released 1: b · took 2.5 s · generation 7, this worker leads · again in 5 s',
    );
    const many = { assigned: Array.from({ length: 20 }, (_, task) => `a-${String(task)}`), assignedCount: 3000 };
    assert.match(rebalanceText({ ...REBALANCE, ...many }), /a-7 and 2,992 more/);
  });
});

describe('rebalances of one cause', () => {
  const round = (at: number, more: Partial<WorkerDetail['rebalances'][number]> = {}) => ({
    ...{ at, generation: at, led: false, reason: 'work moves in parts', durationMs: 500, delayMs: 0 },
    ...{ assigned: [], assignedCount: 0, revoked: [], revokedCount: 0 },
    ...more,
  });
  const detail = (worker: string, rebalances: WorkerDetail['rebalances']): WorkerDetail => ({
    ...{ worker, version: '1', startedAt: 0, memoryBytes: 0, cpuCores: null, loopDelayMs: 0, isRebalancing: false },
    ...{ threads: [], rebalances },
  });

  it('are one entry with who left, what moved on all workers, and how long it took', () => {
    const own = detail('a', [
      round(100_000, { reason: 'connector orders was created', assignedCount: 1 }),
      round(900_000, { reason: 'a worker joined or left', assignedCount: 2, delayMs: 8000 }),
      round(910_000, { assignedCount: 3 }),
    ]);
    const leader = detail('b', [
      round(900_000, { led: true, left: ['12702'], joined: [] }),
      round(910_000, { assignedCount: 3 }),
    ]);
    assert.deepEqual(
      rebalanceEvents([own, leader], own).map(({ at, text, rounds }) => [at, text, rounds.length]),
      [
        [900_000, '12702 left, 8 moved, 11 s', 2],
        [100_000, 'Connector orders was created, 1 moved, 1 s', 1],
      ],
    );
  });
});

describe('the search for plugins', () => {
  it('lists connectors first, and requires each word', () => {
    const plugins = [
      { class: 'org.StringConverter', type: 'converter', version: '1' },
      { class: 'com.SinkB', type: 'sink', version: '1' },
      { class: 'com.SourceA', type: 'source', version: '1' },
    ];
    assert.deepEqual(
      matchingPlugins(plugins, '').map((each) => each.class),
      ['com.SinkB', 'com.SourceA', 'org.StringConverter'],
    );
    assert.deepEqual(
      matchingPlugins(plugins, 'com source').map((each) => each.class),
      ['com.SourceA'],
    );
  });

  it('finds options by their name and meaning', () => {
    const options = [
      { name: 'batch.size', documentation: 'Rows of a statement' },
      { name: 'topics', documentation: 'What is read' },
    ];
    assert.deepEqual(
      matchingOptions(options, 'ROWS batch').map(({ name }) => name),
      ['batch.size'],
    );
  });
});

describe('bytes in words', () => {
  it('have at most three digits and a unit', () => {
    assert.deepEqual([0, 999, 1500, 123_456, 5_000_000_000].map(bytesText), [
      '0 B',
      '999 B',
      '1.5 kB',
      '123 kB',
      '5.0 GB',
    ]);
  });
});
