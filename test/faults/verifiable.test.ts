import assert from 'node:assert/strict';
import type { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import type { WorkerProcess } from '../support/worker-process.ts';
import { PLAIN_JSON, verifiableServices, type Line } from '../integration/verifiable-fixture.ts';

describe('Kafka’s connectors for tests of clusters (T2)', () => {
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;

  before(async () => ({ worker, kafka } = await verifiableServices()));

  after(async () => {
    await worker?.discard();
  });

  /** Lines of the tasks of a connector on standard output; those of the log have no name. */
  function lines(name: string): Line[] {
    return worker.log
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line['name'] === name);
  }

  const numbers = (of: readonly Line[], mark: string) => of.filter((line) => mark in line).map((line) => line['seqno']);

  it('print every record that was sent, acknowledged, received and flushed, also over a kill', async () => {
    const [source, sink, topic] = [uniqueName('vsource'), uniqueName('vsink'), uniqueName('verifiable')];
    await kafka.createTopic(topic);
    await worker.rest.create(source, {
      ...PLAIN_JSON,
      'connector.class': 'VerifiableSource',
      topic,
      throughput: '100',
      'tasks.max': '1',
    });
    await worker.rest.create(sink, { ...PLAIN_JSON, 'connector.class': 'VerifiableSinkConnector', topics: topic });
    const flushed = () => numbers(lines(sink), 'flushed') as number[];
    await until(() => flushed().length >= 50, 'fifty records are flushed');
    await worker.kill();
    const before = Math.max(...(numbers(lines(source), 'committed') as number[]));
    await worker.start();
    await until(() => Math.max(...flushed()) > before + 50, 'records from after the kill are flushed');
    assert.equal((await worker.rest.put(`/connectors/${source}/stop`)).status, 204);
    await worker.rest.untilState(source, 'STOPPED', 0);
    const committed = [...new Set(numbers(lines(source), 'committed') as number[])].sort((a, b) => a - b);
    assert.deepEqual(
      committed.slice(0, before + 50),
      Array.from({ length: before + 50 }, (_, seqno) => seqno),
      'no number is left out',
    );
    await until(() => new Set(flushed()).size >= committed.length, 'all that was acknowledged is flushed');
    assert.deepEqual(
      [...new Set(flushed())].sort((a, b) => a - b).filter((seqno) => committed.includes(seqno)),
      committed,
    );
    const [sent] = lines(source);
    assert.deepEqual(Object.keys(sent ?? {}), ['task', 'seqno', 'time_ms', 'name', 'topic']);
    assert.deepEqual([sent?.['task'], sent?.['seqno'], sent?.['topic']], [0, 0, topic]);
    const done = lines(sink).find((line) => 'flushed' in line);
    assert.deepEqual(
      [done?.['task'], done?.['seqno'], done?.['offset'], done?.['sinkTask'], done?.['topic'], done?.['flushed']],
      [0, 0, 0, 0, topic, true],
    );
  });
});
