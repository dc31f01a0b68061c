import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ASKED } from '../support/asked-metrics.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { expressionsOf, metricsOf, missingFrom } from '../support/promql-names.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PUBLIC = fileURLToPath(new URL('../../../shared/golden/dashboards/', import.meta.url));
const OWN = fileURLToPath(new URL('../../docs/monitoring/', import.meta.url));
const FILES = {
  strimzi: 'strimzi-connect.json',
  confluent: 'cp-connect.json',
  reporter: 'strimzi-reporter-connect.json',
} as const;

/** Metrics that a worker cannot have, with the reason. */
const KNOWN: Readonly<Record<string, string>> = {
  container_cpu_usage_seconds_total: 'cAdvisor measures containers, not the worker',
};

describe('Dashboards of Kafka Connect', () => {
  let worker: WorkerProcess;
  let target: TestDatabase;
  let traffic: KafkaTraffic;
  let page = '';

  before(async () => {
    [worker, target, traffic] = await Promise.all([
      WorkerProcess.start({ properties: { 'metrics.naming': 'strimzi,confluent,reporter' } }),
      database('dashboards'),
      KafkaTraffic.shared(),
    ]);
    const [topic, sink, source] = [uniqueName('dashboards'), uniqueName('dashboards'), uniqueName('dashboards')];
    const lines = `${topic}-lines`;
    await Promise.all([traffic.createTopic(topic), traffic.createTopic(lines)]);
    await worker.rest.create(sink, sinkConfig(target, { topics: topic, 'protocol.type': 'line_lp' }));
    await worker.rest.create(source, {
      'connector.class': 'FileStreamSource',
      file: fileURLToPath(import.meta.url),
      topic: lines,
    });
    await traffic.produce(topic, [{ value: 'm v=1 1' }]);
    const read = async () => (page = (await worker.rest.get<string>('/metrics')).body);
    await until(
      async () =>
        /_sink_record_read_total\{.*\} 1$/m.test(await read()) && /_record_write_total\{.*\} [1-9]/.test(page),
      'both tasks have had records',
    );
  });
  after(async () => {
    await worker.discard();
  });

  for (const [naming, asked] of Object.entries(ASKED) as [keyof typeof FILES, readonly string[]][]) {
    it(`of ${naming} find their metrics and labels on a worker with a sink and a source`, () => {
      const missing = missingFrom(page, asked);
      console.log(`      ${naming}: ${String(asked.length - missing.length)} of ${String(asked.length)}`);
      assert.deepEqual(
        missing.filter((line) => KNOWN[line] === undefined),
        [],
      );
    });

    it(`of ${naming} ask for what the list says`, async function () {
      const file = PUBLIC + FILES[naming];
      if (!existsSync(file)) this.skip();
      assert.deepEqual(metricsOf(expressionsOf(JSON.parse(await readFile(file, 'utf8')))), [...asked].sort());
    });
  }

  it('and alert rules that this package brings find theirs', async () => {
    const dashboard = expressionsOf(JSON.parse(await readFile(`${OWN}grafana-dashboard.json`, 'utf8')));
    const rules = await readFile(`${OWN}alert-rules.yml`, 'utf8');
    const alerts = [...rules.matchAll(/^\s+expr: (.+)$/gm)].map(([, expression = '']) => expression);
    assert.ok(dashboard.length > 15 && alerts.length > 5, `${String(dashboard.length)} ${String(alerts.length)}`);
    assert.deepEqual(missingFrom(page, metricsOf([...dashboard, ...alerts])), []);
  });
});
