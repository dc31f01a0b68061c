import { overridePolicy, type OverridePolicy } from '../config/override-policy.ts';
import type { WorkerConfig } from '../config/worker-config.ts';
import type { ExactlyOnceSources } from '../connect/source/source-task-parts.ts';
import type { MetricWindow } from '../observe/metrics/sampled-stats.ts';
import type { TaskDefaults } from '../connect/hosting/task-factory.ts';

/** Returns the settings that the worker's configuration provides to every task, in any thread. */
export function taskDefaults(config: WorkerConfig, exactlyOnce: ExactlyOnceSources | undefined): TaskDefaults {
  const { common, converterConfig } = config;
  return {
    offsetFlushIntervalMs: Number(common['offset.flush.interval.ms']),
    offsetFlushTimeoutMs: Number(common['offset.flush.timeout.ms']),
    topicCreationEnabled: common['topic.creation.enable'],
    exactlyOnce,
    converterConfig,
  };
}

/** The time window of metrics. */
export function metricWindow({ common }: WorkerConfig): MetricWindow {
  return { sampleMs: Number(common['metrics.sample.window.ms']), samples: common['metrics.num.samples'] };
}

/** Returns the policy that determines which settings of Kafka clients connectors may override. */
export function clientOverrides({ common }: WorkerConfig): OverridePolicy {
  return overridePolicy(
    common['connector.client.config.override.policy'],
    common['connector.client.config.override.allowlist'],
  );
}
