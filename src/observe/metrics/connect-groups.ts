import type { MetricAttribute, MetricGroup } from './metric-group.ts';

const counter = (help: string): MetricAttribute => ['counter', help];
const gauge = (help: string): MetricAttribute => ['gauge', help];
const text = (help: string): MetricAttribute => ['text', help];

/** Starts of connectors or tasks on this worker. Percentages are from 0 to 1, within the window of metrics. */
function startups(what: 'connector' | 'task'): MetricGroup {
  return {
    [`${what}-startup-attempts-total`]: counter(`Starts of ${what}s that were attempted on this worker`),
    [`${what}-startup-success-total`]: counter(`Starts of ${what}s that succeeded`),
    [`${what}-startup-success-percentage`]: gauge(`Share of the starts of ${what}s that succeeded, from 0 to 1`),
    [`${what}-startup-failure-total`]: counter(`Starts of ${what}s that failed`),
    [`${what}-startup-failure-percentage`]: gauge(`Share of the starts of ${what}s that failed, from 0 to 1`),
  };
}

function pluginOf(what: string): MetricGroup {
  return { [`${what}-class`]: text(`Class of the ${what}`), [`${what}-version`]: text(`Version of the ${what}`) };
}

/** Groups of org.apache.kafka.connect.runtime.ConnectMetricsRegistry (4.3). */
export const CONNECT_GROUPS: Readonly<Record<string, MetricGroup>> = {
  'connect-worker-metrics': {
    'connector-count': gauge('Connectors that run on this worker'),
    'task-count': gauge('Tasks that run on this worker'),
    ...startups('connector'),
    ...startups('task'),
    'connector-total-task-count': gauge('Tasks of the connector on this worker'),
    'connector-running-task-count': gauge('Tasks of the connector on this worker that are running'),
    'connector-paused-task-count': gauge('Tasks of the connector on this worker that are paused'),
    'connector-failed-task-count': gauge('Tasks of the connector on this worker that are failed'),
    'connector-unassigned-task-count': gauge('Tasks of the connector on this worker that are unassigned'),
    'connector-destroyed-task-count': gauge('Tasks of the connector on this worker that are destroyed'),
    'connector-restarting-task-count': gauge('Tasks of the connector on this worker that are restarting'),
  },
  'connect-worker-rebalance-metrics': {
    'connect-protocol': text('Protocol of the group'),
    'leader-name': text('Leader of the group'),
    epoch: gauge('Generation of the group'),
    'completed-rebalances-total': counter('Rebalances that this worker completed'),
    rebalancing: gauge('1 while a rebalance is in progress'),
    'rebalance-max-time-ms': gauge('Duration of the longest rebalance within the window, in milliseconds'),
    'rebalance-avg-time-ms': gauge('Average duration of a rebalance within the window, in milliseconds'),
    'time-since-last-rebalance-ms': gauge('Milliseconds since the last rebalance'),
  },
  'connector-metrics': {
    'connector-type': text('Type of the connector: source or sink'),
    'connector-class': text('Class of the connector'),
    'connector-version': text('Version of the connector'),
    status: text('State of the connector'),
  },
  'connector-task-metrics': {
    status: text('State of the task'),
    'running-ratio': gauge('Share of the time since its start that the task was running'),
    'pause-ratio': gauge('Share of the time since its start that the task was paused'),
    'offset-commit-max-time-ms': gauge('Duration of the longest offset commit within the window, in milliseconds'),
    'offset-commit-avg-time-ms': gauge('Average duration of an offset commit within the window, in milliseconds'),
    'batch-size-max': gauge('Number of records in the largest batch within the window'),
    'batch-size-avg': gauge('Average number of records in a batch within the window'),
    'offset-commit-failure-percentage': gauge('Share of the offset commits within the window that failed, from 0 to 1'),
    'offset-commit-success-percentage': gauge(
      'Share of the offset commits within the window that succeeded, from 0 to 1',
    ),
    'connector-type': text('Type of the connector'),
    ...pluginOf('connector'),
    ...pluginOf('task'),
    ...pluginOf('key-converter'),
    ...pluginOf('value-converter'),
    ...pluginOf('header-converter'),
  },
  'connector-transform-metrics': pluginOf('transform'),
  'connector-predicate-metrics': pluginOf('predicate'),
  'source-task-metrics': {
    'source-record-poll-rate': gauge('Records that the task returned, per second'),
    'source-record-poll-total': counter('Records that the task returned'),
    'source-record-write-rate': gauge('Records that were written to Kafka, per second'),
    'source-record-write-total': counter('Records that were written to Kafka'),
    'poll-batch-max-time-ms': gauge('Duration of the longest poll that returned records, in milliseconds'),
    'poll-batch-avg-time-ms': gauge('Average duration of a poll that returned records, in milliseconds'),
    'source-record-active-count': gauge('Records that the task returned and that are not written yet'),
    'source-record-active-count-max': gauge('Largest number of records that were not written yet'),
    'source-record-active-count-avg': gauge('Average number of records that were not written yet'),
    'transaction-size-min': gauge('Number of records in the smallest transaction'),
    'transaction-size-max': gauge('Number of records in the largest transaction'),
    'transaction-size-avg': gauge('Average number of records in a transaction'),
  },
  'sink-task-metrics': {
    'sink-record-read-rate': gauge('Records read from Kafka, per second'),
    'sink-record-read-total': counter('Records read from Kafka'),
    'sink-record-send-rate': gauge('Records put to the task, per second'),
    'sink-record-send-total': counter('Records put to the task'),
    'sink-record-lag-max': gauge('Undelivered records of the partition that has the most'),
    'partition-count': gauge('Partitions that are assigned to the task'),
    'offset-commit-seq-no': gauge('Sequence number of the offset commits'),
    'offset-commit-completion-rate': gauge('Offset commits that succeeded, per second'),
    'offset-commit-completion-total': counter('Offset commits that succeeded'),
    'offset-commit-skip-rate': gauge('Offset commits that came too late and were ignored, per second'),
    'offset-commit-skip-total': counter('Offset commits that came too late and were ignored'),
    'put-batch-max-time-ms': gauge('Duration of the longest put, in milliseconds'),
    'put-batch-avg-time-ms': gauge('Average duration of a put, in milliseconds'),
    'sink-record-active-count': gauge('Records read from Kafka whose offsets are not committed yet'),
    'sink-record-active-count-max': gauge('Largest number of records whose offsets were not committed yet'),
    'sink-record-active-count-avg': gauge('Average number of records whose offsets were not committed yet'),
  },
  'task-error-metrics': {
    'total-record-failures': counter('Failures of records, retries included'),
    'total-record-errors': counter('Records that failed'),
    'total-records-skipped': counter('Records that were skipped'),
    'total-retries': counter('Retries of records'),
    'total-errors-logged': counter('Failures that were logged'),
    'deadletterqueue-produce-requests': counter('Attempts to write a record to the dead-letter topic'),
    'deadletterqueue-produce-failures': counter('Records that could not be written to the dead-letter topic'),
    'last-error-timestamp': gauge('Time of the last failure of a record, in milliseconds since the epoch; 0: never'),
  },
};
