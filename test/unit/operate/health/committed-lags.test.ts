import assert from 'node:assert/strict';
import { CommittedLags } from '../../../../src/operate/health/committed-lags.ts';
import type { OffsetsPreview } from '../../../../src/herder/offsets-preview.ts';
import { silentLogger } from '../../../../src/observe/logger.ts';
import { until } from '../../../support/until.ts';

interface Connector {
  type: 'sink' | 'source' | 'unknown';
  tasks: string[];
  isOwned: boolean;
}

/** The answer about a connector whose topics are these far behind. */
function offsets(lags: Readonly<Record<string, readonly (number | null)[]>>): OffsetsPreview {
  const partitions = Object.entries(lags).flatMap(([topic, ofTopic]) =>
    ofTopic.map((skipped, partition) => ({ partition: { kafka_topic: topic, kafka_partition: partition }, skipped })),
  );
  const all = partitions.map(({ skipped }) => skipped);
  const skipped = all.includes(null) ? null : all.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  return { partitions, again: 0, skipped, note: '' } as unknown as OffsetsPreview;
}

describe('the lag of sinks of which no task reads', () => {
  const connectors = new Map<string, Connector>();
  const answers = new Map<string, () => Promise<OffsetsPreview>>();
  const read: string[] = [];
  let lags: CommittedLags;

  beforeEach(() => {
    connectors.clear();
    answers.clear();
    read.splice(0);
    lags = new CommittedLags(
      {
        names: () => [...connectors.keys()],
        status: (name: string) => {
          const found = connectors.get(name);
          if (found === undefined || found.type === 'unknown') throw new Error('404');
          const tasks = found.tasks.map((state, task) => [task, { state }] as const);
          return { name, connector: { state: 'STOPPED' }, tasks, type: found.type } as never;
        },
      },
      { ownsConnector: (name: string) => connectors.get(name)?.isOwned === true },
      async (name) => {
        read.push(name);
        return (await answers.get(name)?.()) ?? offsets({ t: [5] });
      },
      silentLogger,
      5,
    );
  });
  afterEach(() => lags.stop());

  const sink = (tasks: string[] = [], isOwned = true): Connector => ({ type: 'sink', tasks, isOwned });

  it('is the sum of its partitions, by topic', async () => {
    connectors.set('idle', sink(['FAILED', 'UNASSIGNED']));
    answers.set('idle', () => Promise.resolve(offsets({ a: [1, 2], b: [4] })));
    lags.start();
    assert.deepEqual(await until(() => lags.of('idle'), 'the lag is known'), {
      connector: 'idle',
      lag: 7,
      topics: [
        { name: 'a', partitions: 2, lag: 3 },
        { name: 'b', partitions: 1, lag: 4 },
      ],
    });
    assert.equal(lags.all().length, 1);
  });

  it('is not read of sinks that a task reads, of sources, of unknown ones, and of those of other workers', async () => {
    connectors.set('idle', sink());
    connectors.set('running', sink(['FAILED', 'RUNNING']));
    connectors.set('paused', sink(['PAUSED']));
    connectors.set('source', { type: 'source', tasks: [], isOwned: true });
    connectors.set('unknown', { type: 'unknown', tasks: [], isOwned: true });
    connectors.set('elsewhere', sink([], false));
    lags.start();
    await until(() => read.length >= 3, 'three rounds');
    assert.deepEqual([...new Set(read)], ['idle']);
  });

  it('is forgotten when a task reads again, when the connector is gone, and when the offsets are not known', async () => {
    for (const name of ['resumed', 'deleted', 'away', 'unknown']) connectors.set(name, sink());
    lags.start();
    await until(() => lags.all().length === 4, 'all are known');
    connectors.set('resumed', sink(['RUNNING']));
    connectors.delete('deleted');
    answers.set('away', () => Promise.reject(new Error('the broker is unreachable')));
    answers.set('unknown', () => Promise.resolve(offsets({ t: [1, null] })));
    await until(() => lags.all().length === 0, 'all are forgotten');
    answers.clear();
    await until(() => lags.of('away') !== undefined && lags.of('unknown') !== undefined, 'they are read again');
    assert.deepEqual([lags.of('resumed'), lags.of('deleted')], [undefined, undefined]);
  });

  it('is read of twenty in a round, of those first that were read longest ago', async () => {
    const names = Array.from({ length: 45 }, (_, index) => `sink-${String(index)}`);
    for (const name of names) connectors.set(name, sink());
    lags.start();
    await until(() => read.length >= 45, 'three rounds');
    assert.equal(new Set(read.slice(0, 45)).size, 45, 'each once before any a second time');
  });
});
