import assert from 'node:assert/strict';
import type { NamingName } from '../../../../src/observe/metrics/metric-names.ts';
import type { MetricDomain } from '../../../../src/observe/metrics/metric-set.ts';
import { MetricsPage } from '../../../../src/observe/metrics/metrics-page.ts';

/** Lines of the metrics page for one attribute under a naming, without quotes. */
function named(naming: NamingName, mbean: string, attribute: string, value: number | string): string[] {
  const [, domain = '', group = '', tags = ''] = /^([\w.]+):type=([\w-]+)(?:,(.*))?$/.exec(mbean) ?? [];
  const pairs = tags === '' ? [] : tags.split(',').map((pair) => pair.split('=', 2) as [string, string]);
  const page = new MetricsPage([naming]);
  page.add({ domain: domain as MetricDomain, group, tags: Object.fromEntries(pairs), values: { [attribute]: value } });
  const lines = page.text('text').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.replaceAll('"', ''));
}

const TASK = 'kafka.connect:type=sink-task-metrics,connector=c,task=0';
const CONNECTOR = 'kafka.connect:type=connector-metrics,connector=c';
const WORKER = 'kafka.connect:type=connect-worker-metrics';

describe('Names of metrics, as a Java worker with jmx_exporter 1.0.1 and the rules of each project has them', () => {
  it('strimzi', () => {
    const of = (mbean: string, attribute: string, value: number | string) => named('strimzi', mbean, attribute, value);
    assert.deepEqual(of(WORKER, 'connector-count', 2), ['kafka_connect_worker_connector_count 2']);
    assert.deepEqual(of(`${WORKER},connector=c`, 'connector-failed-task-count', 1), [
      'kafka_connect_worker_connector_failed_task_count{connector=c} 1',
    ]);
    assert.deepEqual(of(TASK, 'sink-record-read-total', 7), [
      'kafka_connect_sink_task_sink_record_read_total{connector=c,task=0} 7',
    ]);
    assert.deepEqual(of(CONNECTOR, 'status', 'running'), [
      'kafka_connect_connector_status{connector=c,status=running} 1',
    ]);
    assert.deepEqual(of(CONNECTOR, 'connector-class', 'a.B'), [
      'kafka_connect_connector_connector_class{connector=c,connector_class=a.B} 1',
    ]);
    assert.deepEqual(of('kafka.connect:type=connector-task-metrics,connector=c,task=0', 'task-class', 'a.B'), []);
    assert.deepEqual(of('kafka.connect:type=task-error-metrics,connector=c,task=0', 'total-retries', 3), [
      'kafka_connect_task_error_total_retries{connector=c,task=0} 3',
    ]);
    const rebalance = 'kafka.connect:type=connect-worker-rebalance-metrics';
    assert.deepEqual(of(rebalance, 'connect-protocol', 'SESSIONED'), [
      'kafka_connect_worker_rebalance_connect_protocol{connect_protocol=SESSIONED} 1',
    ]);
    assert.deepEqual(of('kafka.connect:type=connect-coordinator-metrics,client-id=w', 'assigned-tasks', 4), [
      'kafka_connect_coordinator_assigned_tasks{clientid=w} 4',
    ]);
    assert.deepEqual(of('kafka.admin.client:type=admin-client-metrics,client-id=a', 'connection-count', 2), [
      'kafka_admin_client_connection_count{clientid=a} 2',
    ]);
    const partition = 'kafka.consumer:type=consumer-fetch-manager-metrics,client-id=x,topic=t,partition=0';
    assert.deepEqual(of(partition, 'records-lag', 5), [
      'kafka_consumer_fetch_manager_records_lag{clientid=x,topic=t,partition=0} 5',
    ]);
    assert.deepEqual(of('kafka.connect:type=connect-node-metrics,client-id=x,node-id=node-1', 'request-rate', 5), [
      'kafka_connect_node_request_rate{clientid=x,nodeid=node-1} 5',
    ]);
    assert.deepEqual(of('kafka.connect:type=app-info,client-id=w', 'start-time-ms', 1500), [
      'kafka_connect_start_time_seconds{clientid=w} 1.5',
    ]);
  });

  it('confluent, with both names of what jmx_exporter 0.x and 1.x call differently', () => {
    const of = (mbean: string, attribute: string, value: number | string) =>
      named('confluent', mbean, attribute, value);
    assert.deepEqual(of(WORKER, 'connector-count', 2), [
      'kafka_connect_connect_worker_metrics_connector_count{connector=aggregate} 2',
    ]);
    assert.deepEqual(of(WORKER, 'task-startup-success-total', 2), [
      'kafka_connect_connect_worker_metrics_task_startup_success_total{connector=aggregate} 2',
      'kafka_connect_connect_worker_metrics_task_startup_success{connector=aggregate} 2',
    ]);
    assert.deepEqual(of(`${WORKER},connector=c`, 'connector-failed-task-count', 1), [
      'kafka_connect_connect_worker_metrics_connector_failed_task_count{connector=c} 1',
    ]);
    assert.deepEqual(of(CONNECTOR, 'status', 'running'), [
      'kafka_connect_connector_metrics{connector=c,status=running} 1',
    ]);
    assert.deepEqual(of(CONNECTOR, 'connector-type', 'sink'), [
      'kafka_connect_connector_metrics{connector=c,connector_type=sink} 1',
    ]);
    assert.deepEqual(of('kafka.connect:type=connector-task-metrics,connector=c,task=0', 'status', 'running'), []);
    assert.deepEqual(of('kafka.connect:type=app-info,client-id=w', 'start-time-ms', 15), [
      'kafka_connect_app_info{client_id=w,start_time_ms=15} 1',
      'kafka_connect_app{client_id=w,start_time_ms=15} 1',
    ]);
    assert.deepEqual(of('kafka.connect:type=connect-metrics,client-id=w', 'io-ratio', 0.5), [
      'kafka_connect_connect_metrics_io_ratio{client_id=w} 0.5',
    ]);
    assert.deepEqual(of('kafka.consumer:type=consumer-metrics,client-id=x', 'connection-count', 3), [
      'kafka_consumer_consumer_metrics_connection_count{client_type=consumer,client_id=x} 3',
    ]);
  });

  it('reporter', () => {
    const of = (mbean: string, attribute: string, value: number | string) => named('reporter', mbean, attribute, value);
    assert.deepEqual(of(WORKER, 'connector-count', 2), ['kafka_connect_connect_worker_metrics_connector_count 2']);
    assert.deepEqual(of(CONNECTOR, 'connector-version', '1.0'), [
      'kafka_connect_connector_metrics_connector_version_info{connector=c,connector_version=1.0} 1',
    ]);
    assert.deepEqual(of('kafka.producer:type=producer-metrics,client-id=p', 'outgoing-byte-total', 9), [
      'kafka_producer_producer_metrics_outgoing_byte{client_id=p} 9',
    ]);
    assert.deepEqual(of('kafka.admin.client:type=admin-client-metrics,client-id=a', 'connection-count', 2), [
      'kafka_admin_client_admin_client_metrics_connection_count{client_id=a} 2',
    ]);
  });
});
