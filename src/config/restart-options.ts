import { declareOptions } from './option.ts';
import { parseOptions, type RawConfig } from './parse.ts';
import { atLeast, between, oneOf } from './validators.ts';

const GROUP = 'Restarts';
/** Faster restarts would flood the log and the status topic. */
const MIN_BACKOFF_MS = 100;
const WEEK_MS = 604_800_000;

/** Options for automatic restarts of failed connectors and tasks, for a worker and for a connector. */
export const restartOptions = declareOptions({
  'restart.policy': {
    type: 'STRING',
    default: 'transient',
    importance: 'MEDIUM',
    documentation:
      "Which failed tasks and connectors the worker restarts. `transient`: after failures of the infrastructure, hangs and full heaps. `always`: after all failures, including those of configurations, data and plugins. `never`: none, as in Kafka Connect. Connectors use the worker's value by default.",
    group: GROUP,
    order: 1,
    width: 'SHORT',
    displayName: 'Restart policy',
    validator: oneOf('transient', 'always', 'never'),
  },
  'restart.backoff.ms': {
    type: 'LONG',
    default: 1000,
    importance: 'LOW',
    documentation:
      "Milliseconds before the first restart, plus or minus 20 %. The wait doubles with each further restart. Connectors use the worker's value by default.",
    group: GROUP,
    order: 2,
    width: 'SHORT',
    displayName: 'Restart backoff',
    validator: between(MIN_BACKOFF_MS, WEEK_MS),
  },
  'restart.backoff.max.ms': {
    type: 'LONG',
    default: 300_000,
    importance: 'LOW',
    documentation:
      "Longest wait before a restart, in milliseconds, plus or minus 20 %. Connectors use the worker's value by default.",
    group: GROUP,
    order: 3,
    width: 'SHORT',
    displayName: 'Longest restart backoff',
    validator: between(MIN_BACKOFF_MS, WEEK_MS),
  },
  'restart.max.attempts': {
    type: 'INT',
    default: 20,
    importance: 'LOW',
    documentation:
      "Number of restarts in a row after which a task or connector stays FAILED; -1 means no limit. With the other defaults, 20 restarts take about an hour. Connectors use the worker's value by default.",
    group: GROUP,
    order: 4,
    width: 'SHORT',
    displayName: 'Restart attempts',
    validator: atLeast(-1),
  },
  'restart.quiet.ms': {
    type: 'LONG',
    default: 600_000,
    importance: 'LOW',
    documentation:
      "Milliseconds without a failure after which the restart count of a task or connector is reset. Connectors use the worker's value by default.",
    group: GROUP,
    order: 5,
    width: 'SHORT',
    displayName: 'Restart quiet time',
    validator: between(1, WEEK_MS),
  },
});

export interface RestartSettings {
  readonly policy: string;
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** -1 for no limit. */
  readonly maxAttempts: number;
  readonly quietMs: number;
}

/** Throws a ConfigError for invalid values. `defaults`: the properties of the worker. */
export function restartSettings(config: RawConfig, defaults: RawConfig): RestartSettings {
  const options = parseOptions(restartOptions, { ...restartKeys(defaults), ...restartKeys(config) });
  return {
    policy: options['restart.policy'],
    backoffMs: Number(options['restart.backoff.ms']),
    backoffMaxMs: Number(options['restart.backoff.max.ms']),
    maxAttempts: options['restart.max.attempts'],
    quietMs: Number(options['restart.quiet.ms']),
  };
}

/** The restart options in a configuration. */
export function restartKeys(config: RawConfig): Record<string, string> {
  return Object.fromEntries(
    Object.keys(restartOptions).flatMap((name) => (typeof config[name] === 'string' ? [[name, config[name]]] : [])),
  );
}
