import type { MetricAttribute, MetricGroup } from './metric-group.ts';

const counter = (help: string): MetricAttribute => ['counter', help];
const gauge = (help: string): MetricAttribute => ['gauge', help];
const text = (help: string): MetricAttribute => ['text', help];

/** Starts of connectors or tasks on this worker. Percentages are from 0 to 1, within the window of metrics. */
function startups(what: 'connector' | 'task'): MetricGroup {
  return {
    [`${what}-startup-attempts-total`]: counter(`Starts of ${what}s that were tried on this worker`),
    [`${what}-startup-success-total`]: counter(`Starts of ${what}s that succeeded`),
    [`${what}-startup-success-percentage`]: gauge(`Part of the starts of ${what}s that succeeded, from 0 to 1`),
    [`${what}-startup-failure-total`]: counter(`Starts of ${what}s that failed`),
    [`${what}-startup-failure-percentage`]: gauge(`Part of the starts of ${what}s that failed, from 0 to 1`),
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
    'rebalance-max-time-ms': gauge('Milliseconds of the longest rebalance within the window'),
    'rebalance-avg-time-ms': gauge('Milliseconds of a rebalance within the window, in the mean'),
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
    'running-ratio': gauge('Part of the time since its start that the task was running'),
    'pause-ratio': gauge('Part of the time since its start that the task was paused'),
    'offset-commit-max-time-ms': gauge('Milliseconds of the longest offset commit within the window'),
    'offset-commit-avg-time-ms': gauge('Milliseconds of an offset commit within the window, in the mean'),
    'batch-size-max': gauge('Records of the largest batch within the window'),
    'batch-size-avg': gauge('Records of a batch within the window, in the mean'),
    'offset-commit-failure-percentage': gauge('Part of the offset commits within the window that failed, from 0 to 1'),
    'offset-commit-success-percentage': gauge('Part of the offset commits within the window that succeeded'),
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
    'source-record-poll-rate': gauge('Records that the task gave, per second'),
    'source-record-poll-total': counter('Records that the task gave'),
    'source-record-write-rate': gauge('Records that were written to Kafka, per second'),
    'source-record-write-total': counter('Records that were written to Kafka'),
    'poll-batch-max-time-ms': gauge('Milliseconds of the longest poll that gave records'),
    'poll-batch-avg-time-ms': gauge('Milliseconds of a poll that gave records, in the mean'),
    'source-record-active-count': gauge('Records that the task gave and that are not written yet'),
    'source-record-active-count-max': gauge('Most records that were not written yet'),
    'source-record-active-count-avg': gauge('Records that were not written yet, in the mean'),
    'transaction-size-min': gauge('Records of the smallest transaction'),
    'transaction-size-max': gauge('Records of the largest transaction'),
    'transaction-size-avg': gauge('Records of a transaction, in the mean'),
  },
  'sink-task-metrics': {
    'sink-record-read-rate': gauge('Records read from Kafka, per second'),
    'sink-record-read-total': counter('Records read from Kafka'),
    'sink-record-send-rate': gauge('Records put to the task, per second'),
    'sink-record-send-total': counter('Records put to the task'),
    'sink-record-lag-max': gauge('Records not delivered yet of the partition that has most'),
    'partition-count': gauge('Partitions of the task'),
    'offset-commit-seq-no': gauge('Sequence number of the offset commits'),
    'offset-commit-completion-rate': gauge('Offset commits that succeeded, per second'),
    'offset-commit-completion-total': counter('Offset commits that succeeded'),
    'offset-commit-skip-rate': gauge('Offset commits that came too late and were ignored, per second'),
    'offset-commit-skip-total': counter('Offset commits that came too late and were ignored'),
    'put-batch-max-time-ms': gauge('Milliseconds of the longest put'),
    'put-batch-avg-time-ms': gauge('Milliseconds of a put, in the mean'),
    'sink-record-active-count': gauge('Records read from Kafka whose offsets are not committed yet'),
    'sink-record-active-count-max': gauge('Most records whose offsets were not committed yet'),
    'sink-record-active-count-avg': gauge('Records whose offsets were not committed yet, in the mean'),
  },
  'task-error-metrics': {
    'total-record-failures': counter('Failures of records, retries included'),
    'total-record-errors': counter('Records that failed'),
    'total-records-skipped': counter('Records that were left out'),
    'total-retries': counter('Retries of records'),
    'total-errors-logged': counter('Failures that were logged'),
    'deadletterqueue-produce-requests': counter('Records that were to be written to the dead-letter topic'),
    'deadletterqueue-produce-failures': counter('Records that could not be written to the dead-letter topic'),
    'last-error-timestamp': gauge('When a record failed last, in milliseconds since the epoch; 0: never'),
  },
};
