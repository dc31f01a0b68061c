import assert from 'node:assert/strict';
import { connectMetrics } from '../../../../src/observe/metrics/metric-set.ts';
import { formatFor, MetricsPage } from '../../../../src/observe/metrics/metrics-page.ts';

const PROMETHEUS =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';

describe('A page of metrics', () => {
  it('has each family once with its help and type, and escapes labels', () => {
    const page = new MetricsPage(['strimzi']);
    page.add(connectMetrics('connect-worker-metrics', {}, { 'task-count': 2 }));
    page.add(connectMetrics('connector-metrics', { connector: 'a"\\\n' }, { status: 'running' }));
    page.add(connectMetrics('connector-metrics', { connector: 'b' }, { status: 'failed' }));
    page.gauge('sluice_x', 'An x', {}, NaN);
    assert.equal(
      page.text('text'),
      [
        '# HELP kafka_connect_worker_task_count Tasks that run on this worker',
        '# TYPE kafka_connect_worker_task_count gauge',
        'kafka_connect_worker_task_count 2',
        '# HELP kafka_connect_connector_status State of the connector',
        '# TYPE kafka_connect_connector_status gauge',
        String.raw`kafka_connect_connector_status{connector="a\"\\\n",status="running"} 1`,
        'kafka_connect_connector_status{connector="b",status="failed"} 1',
        '# HELP sluice_x An x',
        '# TYPE sluice_x gauge',
        'sluice_x NaN',
        '',
      ].join('\n'),
    );
  });

  it('has a name that two namings share once, as the naming that is listed first writes it', () => {
    const lines = (...namings: ('confluent' | 'reporter')[]) => {
      const page = new MetricsPage(namings);
      page.add(connectMetrics('connect-worker-metrics', {}, { 'task-count': 2 }));
      return page
        .text('text')
        .split('\n')
        .filter((line) => line.startsWith('kafka_'));
    };
    assert.deepEqual(lines('confluent', 'reporter'), [
      'kafka_connect_connect_worker_metrics_task_count{connector="aggregate"} 2',
    ]);
    assert.deepEqual(lines('reporter', 'confluent'), ['kafka_connect_connect_worker_metrics_task_count 2']);
  });

  it('is OpenMetrics: counters are named without _total, and are unknown where that name is taken', () => {
    const page = new MetricsPage(['strimzi', 'confluent']);
    page.add(connectMetrics('sink-task-metrics', { connector: 'c' }, { 'sink-record-read-total': 2 }));
    const types = page
      .text('openmetrics')
      .split('\n')
      .filter((line) => !line.startsWith('# HELP'));
    assert.deepEqual(types, [
      '# TYPE kafka_connect_sink_task_sink_record_read counter',
      'kafka_connect_sink_task_sink_record_read_total{connector="c"} 2',
      '# TYPE kafka_connect_sink_task_metrics_sink_record_read_total unknown',
      'kafka_connect_sink_task_metrics_sink_record_read_total{connector="c"} 2',
      '# TYPE kafka_connect_sink_task_metrics_sink_record_read unknown',
      'kafka_connect_sink_task_metrics_sink_record_read{connector="c"} 2',
      '# EOF',
      '',
    ]);
  });

  it('is in the format that Accept prefers, and in plain text for everything else', () => {
    assert.equal(formatFor(PROMETHEUS), 'openmetrics');
    assert.equal(formatFor('application/openmetrics-text; version="1.0.0"; q=0.2, text/plain; q=0.1'), 'openmetrics');
    assert.equal(formatFor('application/openmetrics-text;version=0.0.1'), 'text');
    assert.equal(formatFor('text/plain'), 'text');
    assert.equal(formatFor('text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.8'), 'text');
    assert.equal(formatFor('application/json'), 'text');
    assert.equal(formatFor(undefined), 'text');
  });
});
