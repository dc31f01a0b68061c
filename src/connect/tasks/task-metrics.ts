import { listEntries } from '../../config/list-text.ts';
import { connectMetrics, type MetricSet, type MetricValue } from '../../observe/metrics/metric-set.ts';
import type { ConnectorConfig } from '../api.ts';
import type { Converters } from '../pipeline/record-converter.ts';
import type { PluginRegistry } from '../plugins/plugin-registry.ts';
import { wantedVersion } from '../plugins/plugins-of-config.ts';
import type { BuiltTask } from './built-task.ts';
import type { TaskAssignment, TaskId } from '../task-assignment.ts';
import type { TaskMeasures } from './task-measures.ts';
import type { TaskDetails } from './task-runner.ts';

/** The current counts of a task, and its plugins. Values that do not exist yet are absent. */
export interface MeasuredTask {
  readonly id: TaskId;
  readonly type: TaskAssignment['type'];
  readonly measures: TaskMeasures;
  readonly built: Pick<BuiltTask, 'errors' | 'deadLetters' | 'plugins'> | undefined;
  readonly details: TaskDetails | undefined;
}

/** Returns the metrics of a task in the form of Java's MBeans. */
export function taskMetrics(task: MeasuredTask): readonly MetricSet[] {
  const { id, type, measures, details } = task;
  const { errors, deadLetters, plugins = [] } = task.built ?? {};
  const tags = taskTags(id);
  const sets = [connectMetrics('connector-task-metrics', tags, measures.values()), ...plugins];
  if (type === 'sink') {
    const { partitions = [] } = details ?? {};
    const lags = partitions.flatMap(({ lag }) => lag ?? []);
    const ofConsumer = {
      'partition-count': partitions.length,
      // Java declares this attribute but never sets it. Here, it is the largest lag of a partition.
      'sink-record-lag-max': lags.length === 0 ? NaN : Math.max(...lags),
    };
    sets.push(connectMetrics('sink-task-metrics', tags, { ...measures.sink.values(), ...ofConsumer }));
  } else sets.push(connectMetrics('source-task-metrics', tags, measures.source.values()));
  const failures = {
    'total-record-failures': errors?.failures ?? 0,
    'total-record-errors': errors?.errors ?? 0,
    'total-records-skipped': errors?.skipped ?? 0,
    'total-retries': errors?.retries ?? 0,
    'total-errors-logged': errors?.logged ?? 0,
    'deadletterqueue-produce-requests': deadLetters?.produceRequests ?? 0,
    'deadletterqueue-produce-failures': deadLetters?.produceFailures ?? 0,
    'last-error-timestamp': errors?.lastErrorAtMs ?? 0,
  };
  sets.push(connectMetrics('task-error-metrics', tags, failures));
  return sets;
}

/** Describes the plugins of a task and their versions. */
export function pluginMetrics(
  { id, type, taskConfig, connectorConfig: config }: TaskAssignment,
  converters: Converters,
  converterConfig: ConnectorConfig,
  plugins: PluginRegistry,
): readonly MetricSet[] {
  const tags = taskTags(id);
  const versionOf = (kind: 'converter' | 'header_converter', className: string, prefix: string): string =>
    plugins.tryFind(kind, className, wantedVersion(converterConfig, `${prefix}.plugin.version`))?.version ?? UNKNOWN;
  const connector = plugins.tryFind(
    'connector',
    config['connector.class'] ?? '',
    wantedVersion(config, 'connector.plugin.version'),
  );
  const version = connector?.version ?? UNKNOWN;
  const values: Record<string, MetricValue> = {
    'connector-type': type,
    'connector-class': connector?.className ?? config['connector.class'] ?? UNKNOWN,
    'connector-version': version,
    'task-class': taskConfig['task.class'] ?? connector?.taskClassName ?? UNKNOWN,
    'task-version': version,
    'key-converter-class': converters.keyClass,
    'key-converter-version': versionOf('converter', converters.keyClass, 'key.converter'),
    'value-converter-class': converters.valueClass,
    'value-converter-version': versionOf('converter', converters.valueClass, 'value.converter'),
    'header-converter-class': converters.headerClass,
    'header-converter-version': versionOf('header_converter', converters.headerClass, 'header.converter'),
  };
  const steps = (['transformation', 'predicate'] as const).flatMap((kind) => {
    const [list, name] = kind === 'transformation' ? ['transforms', 'transform'] : ['predicates', 'predicate'];
    return listEntries(config[list]).map((alias) => {
      const prefix = `${list}.${alias}.`;
      const wanted = wantedVersion(config, `${prefix}plugin.version`);
      const plugin = plugins.tryFind(kind, config[`${prefix}type`] ?? '', wanted);
      const about = {
        [`${name}-class`]: plugin?.className ?? UNKNOWN,
        [`${name}-version`]: plugin?.version ?? UNKNOWN,
      };
      return connectMetrics(`connector-${name}-metrics`, { ...tags, [name]: alias }, about);
    });
  });
  return [connectMetrics('connector-task-metrics', tags, values), ...steps];
}

const UNKNOWN = 'unknown';

function taskTags({ connector, task }: TaskId): Readonly<Record<string, string>> {
  return { connector, task: String(task) };
}
