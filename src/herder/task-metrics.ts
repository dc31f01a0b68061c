import type { TaskReport } from '../connect/tasks/task-hosting.ts';
import { connectMetrics, type MetricSet, type MetricValue } from '../observe/metrics/metric-set.ts';
import type { MetricsPage } from '../observe/metrics/metrics-page.ts';

/** What a task has done, as its runner counted it. */
export function taskMetrics({ id, type, counts, errors, details }: TaskReport): readonly MetricSet[] {
  const tags = { connector: id.connector, task: String(id.task) };
  const isSink = type === 'sink';
  const [taken, given] = isSink
    ? ['sink-record-read', 'sink-record-send']
    : ['source-record-poll', 'source-record-write'];
  const batch = isSink ? 'put-batch' : 'poll-batch';
  const values: Record<string, MetricValue> = {
    [`${taken}-total`]: counts.records,
    [`${given}-total`]: counts.delivered,
    [`${batch}-avg-time-ms`]: counts.batches === 0 ? 0 : counts.batchTotalMs / counts.batches,
    [`${batch}-max-time-ms`]: counts.batchMaxMs,
  };
  const { partitions = [] } = details ?? {};
  if (isSink) {
    values['offset-commit-completion-total'] = counts.commits;
    values['partition-count'] = partitions.length;
    values['sink-record-lag-max'] = Math.max(0, ...partitions.flatMap(({ lag }) => lag ?? []));
  }
  const sets = [connectMetrics(isSink ? 'sink-task-metrics' : 'source-task-metrics', tags, values)];
  for (const { topic, partition, lag } of partitions) {
    if (lag === undefined) continue;
    sets.push({
      domain: 'kafka.consumer',
      group: 'consumer-fetch-manager-metrics',
      tags: { ...tags, topic, partition: String(partition) },
      values: { 'records-lag': lag },
    });
  }
  if (errors === undefined) return sets;
  const failures = {
    'total-record-failures': errors.failures,
    'total-record-errors': errors.errors,
    'total-records-skipped': errors.skipped,
    'total-retries': errors.retries,
    'total-errors-logged': errors.logged,
    'last-error-timestamp': errors.lastErrorAtMs,
  };
  return [...sets, connectMetrics('task-error-metrics', tags, failures)];
}

/** Parts of a task (a table, a missing topic), which Connect does not have. */
export function addParts(page: MetricsPage, { id, type, details }: TaskReport): void {
  const group = `kafka_connect_${type}_task_part`;
  for (const part of details?.parts ?? []) {
    const where = { connector: id.connector, task: String(id.task), part: part.name };
    const status = part.state.toLowerCase();
    page.gauge(`${group}_status`, 'State of a part of the task (a table, a missing topic)', { ...where, status }, 1);
    for (const [name, value] of Object.entries(part.counts)) {
      page.counter(`${group}_${snakeCase(name)}_total`, 'Counted by the task', where, value);
    }
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/\W/g, '_');
}
