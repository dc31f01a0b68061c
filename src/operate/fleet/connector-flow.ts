import type { StageFigures } from '../../connect/pipeline/stage-times.ts';
import type { TaskReport } from '../../connect/hosting/task-hosting.ts';
import type { CommittedLag } from '../health/committed-lags.ts';
import type { MetricSet } from '../../observe/metrics/metric-set.ts';
import type { ConnectorFlow } from './fleet-answers.ts';

const MAX_LISTED = 200;

/**
 * Derives the flow of a connector from the reports of its tasks on this worker. `committed`: the lag of a sink without
 * a reading task.
 */
export function connectorFlow(reports: readonly TaskReport[], committed?: CommittedLag): ConnectorFlow {
  const [first] = reports;
  const isSink = first?.type === 'sink';
  const group = isSink ? 'sink-task-metrics' : 'source-task-metrics';
  const batchMs = isSink ? 'put-batch-avg-time-ms' : 'poll-batch-avg-time-ms';
  const sum = (of: string, name: string): number =>
    reports.reduce((total, { metrics }) => total + valueOf(metrics, of, name), 0);
  const details = reports.flatMap((report) => report.details ?? []);
  const records = sum('connector-task-metrics', 'batch-size-avg');
  const sentRate = sum(group, isSink ? 'sink-record-send-rate' : 'source-record-write-rate');
  const topics = topicsOf(details.flatMap(({ partitions }) => partitions));
  const writes = details.flatMap(({ written }) => written?.microseconds ?? []);
  return {
    type: first?.type ?? (committed === undefined ? 'unknown' : 'sink'),
    tasks: reports.length,
    readRate: sum(group, isSink ? 'sink-record-read-rate' : 'source-record-poll-rate'),
    sentRate,
    deliveredRate: isSink ? details.reduce((total, { reading }) => total + (reading?.deliveredRate ?? 0), 0) : sentRate,
    taskMicroseconds: records === 0 ? null : (sum(group, batchMs) / records) * 1000,
    stages: addedStages(details.map(({ stages = [] }) => stages)),
    areStagesInPut: details.some(({ areStagesInPut = false }) => areStagesInPut),
    errors: sum('task-error-metrics', 'total-record-errors'),
    topics: topics.length === 0 ? (committed?.topics ?? []) : topics,
    tables: tablesOf(details.flatMap(({ written }) => written?.tables ?? [])),
    writeMicroseconds: writes.length === 0 ? null : writes.reduce((total, each) => total + each, 0) / writes.length,
    parts: details.flatMap(({ parts }) => parts).slice(0, MAX_LISTED),
  };
}

/** Merges the stages of several tasks, which have the same stages; means are weighted by their samples. */
function addedStages(tasks: readonly (readonly StageFigures[])[]): readonly StageFigures[] {
  const [first = []] = tasks;
  return first.map((stage, index) => {
    const all = tasks.flatMap((stages) => stages[index] ?? []);
    const samples = all.reduce((total, each) => total + each.samples, 0);
    const mean = (value: (each: StageFigures) => number, otherwise: number): number =>
      samples === 0 ? otherwise : all.reduce((total, each) => total + value(each) * each.samples, 0) / samples;
    return {
      name: stage.name,
      className: stage.className,
      samples,
      microseconds: mean(({ microseconds }) => microseconds, 0),
      passed: mean(({ passed }) => passed, 1),
      errors: all.reduce((total, { errors }) => total + errors, 0),
    };
  });
}

function topicsOf(partitions: readonly { readonly topic: string; readonly lag?: number | undefined }[]) {
  const found = new Map<string, { name: string; partitions: number; lag: number | null }>();
  for (const { topic, lag } of partitions) {
    const known = found.get(topic) ?? { name: topic, partitions: 0, lag: null };
    known.partitions += 1;
    if (lag !== undefined) known.lag = (known.lag ?? 0) + lag;
    found.set(topic, known);
  }
  return [...found.values()].slice(0, MAX_LISTED);
}

function tablesOf(tables: readonly { readonly name: string; readonly rows: number }[]) {
  const found = new Map<string, number>();
  for (const { name, rows } of tables) found.set(name, (found.get(name) ?? 0) + rows);
  return [...found].map(([name, rows]) => ({ name, rows })).slice(0, MAX_LISTED);
}

function valueOf(metrics: readonly MetricSet[], group: string, name: string): number {
  const value = Number(metrics.find((set) => set.group === group && name in set.values)?.values[name] ?? 0);
  return Number.isFinite(value) ? value : 0;
}
