import assert from 'node:assert/strict';
import { ConsumerMetrics } from '../../../src/kafka/metrics/consumer-metrics.ts';
import { NetworkMetrics, type ClientKind } from '../../../src/kafka/metrics/network-metrics.ts';
import { ProducerMetrics } from '../../../src/kafka/metrics/producer-metrics.ts';
import { METRIC_GROUPS } from '../../../src/observe/metrics/metric-groups.ts';
import type { MetricSet } from '../../../src/observe/metrics/metric-set.ts';
import { clientSets } from '../../../src/observe/metrics/open-clients.ts';
import { DEFAULT_WINDOW } from '../../../src/observe/metrics/sampled-stats.ts';

function valuesOf(sets: readonly MetricSet[], group: string, tags: MetricSet['tags'] = {}): MetricSet['values'] {
  const isMeant = (set: MetricSet) =>
    set.group === group && Object.entries(tags).every(([tag, text]) => set.tags[tag] === text);
  return Object.assign({}, ...sets.filter(isMeant).map(({ values }) => values)) as MetricSet['values'];
}

describe('metrics of Kafka clients', () => {
  it('count connections, requests and bytes, by node', () => {
    const figures = new NetworkMetrics('connect', 'c', DEFAULT_WINDOW);
    figures.opened();
    figures.opened();
    figures.closed();
    figures.authenticated(false);
    figures.sent();
    figures.answered('node-1', 100, 2000, performance.now());
    figures.sent();
    figures.answered('node-2', 50, 10, performance.now());
    const all = valuesOf(figures.sets(), 'connect-metrics');
    assert.deepEqual(
      ['connection-count', 'connection-creation-total', 'connection-close-total', 'failed-authentication-total'].map(
        (name) => all[name],
      ),
      [1, 2, 1, 1],
    );
    assert.deepEqual(
      ['request-total', 'network-io-total', 'outgoing-byte-total', 'incoming-byte-total', 'request-size-max'].map(
        (name) => all[name],
      ),
      [2, 4, 150, 2010, 100],
    );
    const node = { 'node-id': 'node-2' };
    assert.equal(valuesOf(figures.sets(), 'connect-node-metrics', node)['incoming-byte-total'], 10);
    figures.forget('node-2');
    assert.deepEqual(valuesOf(figures.sets(), 'connect-node-metrics', node), {});
    figures.end();
  });

  it('are exported from the first connection until the client is closed', () => {
    const isThere = () => clientSets().some(({ tags }) => tags['client-id'] === 'figures-test');
    const figures = new NetworkMetrics('producer', 'figures-test', DEFAULT_WINDOW);
    assert.equal(isThere(), false);
    figures.opened();
    assert.equal(isThere(), true);
    figures.end();
    figures.opened();
    assert.equal(isThere(), false);
  });

  it('cover fetched records, the lag of each partition, and produced records', () => {
    const network = new NetworkMetrics('consumer', 'c', DEFAULT_WINDOW);
    const consumer = new ConsumerMetrics(DEFAULT_WINDOW);
    consumer.fetched(1000, performance.now());
    consumer.consumed(40);
    const lags = [
      { topic: 't', partition: 0, lag: 7 },
      { topic: 't', partition: 1, lag: 3 },
      { topic: 't', partition: 2, lag: undefined },
    ];
    const read = consumer.sets(network, lags, {});
    const { 'records-lag-max': most, 'bytes-consumed-total': bytes } = valuesOf(read, 'consumer-fetch-manager-metrics');
    assert.deepEqual([most, bytes], [7, 1000]);
    assert.equal(valuesOf(read, 'consumer-coordinator-metrics')['assigned-partitions'], 3);
    assert.deepEqual(
      read.flatMap(({ tags, values }) =>
        tags['partition'] === undefined ? [] : [[tags['partition'], values['records-lag']]],
      ),
      [
        ['0', 7],
        ['1', 3],
      ],
    );

    const producer = new ProducerMetrics(DEFAULT_WINDOW);
    producer.sent([
      { topic: 'a', count: 5, bytes: Buffer.alloc(100) },
      { topic: 'b', count: 1, bytes: Buffer.alloc(20) },
    ]);
    producer.retried('a', 5);
    const sets = producer.sets(new NetworkMetrics('producer', 'p', DEFAULT_WINDOW));
    const written = valuesOf(sets, 'producer-metrics');
    assert.deepEqual(
      [
        'record-send-total',
        'record-retry-total',
        'batch-size-avg',
        'records-per-request-avg',
        'requests-in-flight',
      ].map((name) => written[name]),
      [6, 5, 60, 6, 1],
    );
    const ofTopic = valuesOf(sets, 'producer-topic-metrics', { topic: 'a' });
    assert.deepEqual(
      ['record-send-total', 'byte-total', 'record-error-total', 'record-retry-total'].map((name) => ofTopic[name]),
      [5, 100, 0, 5],
    );
  });

  it('all have descriptions', () => {
    const kinds: ClientKind[] = ['consumer', 'producer', 'admin', 'connect'];
    const sets = kinds.flatMap((kind) => {
      const network = new NetworkMetrics(kind, 'c', DEFAULT_WINDOW);
      network.answered('node-1', 1, 1, 0);
      return network.sets();
    });
    const network = new NetworkMetrics('consumer', 'c', DEFAULT_WINDOW);
    sets.push(...new ConsumerMetrics(DEFAULT_WINDOW).sets(network, [{ topic: 't', partition: 0, lag: 1 }], {}));
    const producer = new ProducerMetrics(DEFAULT_WINDOW);
    producer.sent([{ topic: 't', count: 1, bytes: Buffer.alloc(1) }]);
    sets.push(...producer.sets(network));
    const unknown = sets.flatMap(({ group, values }) =>
      Object.keys(values).filter((name) => METRIC_GROUPS[group]?.[name] === undefined),
    );
    assert.deepEqual(unknown, []);
  });
});
