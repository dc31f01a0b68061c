import { isDeepStrictEqual } from 'node:util';
import { declareOptions, type Validator } from './option.ts';
import { parseOptions, type RawConfig } from './parse.ts';

const GROUP = 'Rate limit';
const NONE = -1;

const positiveOrNone: Validator = {
  text: '[-1, 1,...]',
  check: (_name, value) =>
    Number(value) === NONE || Number(value) >= 1 ? undefined : 'Value must be at least 1, or -1 for no limit',
};

/**
 * Rate limits for all tasks of a connector together. Changing only these options restarts nothing, unless a value
 * contains a variable of a config provider (see `limitsCanChange`).
 */
export const rateLimitOptions = declareOptions({
  'rate.limit.records': {
    type: 'LONG',
    default: NONE,
    importance: 'LOW',
    documentation:
      'Records per second for all tasks of the connector together; each task has an equal share. -1 means no limit.',
    group: GROUP,
    order: 1,
    width: 'SHORT',
    displayName: 'Records per second',
    validator: positiveOrNone,
  },
  'rate.limit.bytes': {
    type: 'LONG',
    default: NONE,
    importance: 'LOW',
    documentation:
      'Bytes per second for all tasks of the connector together; each task has an equal share. -1 means no limit. A sink counts the bytes of the values in Kafka; a source counts the bytes of the keys and values that it sends.',
    group: GROUP,
    order: 2,
    width: 'SHORT',
    displayName: 'Bytes per second',
    validator: positiveOrNone,
  },
});

/**
 * One task's share of the connector's limits per second; `undefined` means no limit.
 * @param config with resolved variables
 * @throws ConfigError if a value is invalid
 */
export function rateLimitOf(config: RawConfig, tasks: number) {
  const options = parseOptions(rateLimitOptions, config);
  const part = (limit: number | bigint): number | undefined =>
    limit < 1 ? undefined : Number(limit) / Math.max(1, tasks);
  return { records: part(options['rate.limit.records']), bytes: part(options['rate.limit.bytes']) };
}

type Config = Readonly<Record<string, string>>;

/** Whether two configurations are equal except for rate limits that can change while tasks run. */
export function isSameButLimits(one: Config, other: Config): boolean {
  return isDeepStrictEqual(withoutLimits(one), withoutLimits(other));
}

/** Applies the rate limits of a later configuration, if they can change while tasks run. */
export function withLimitsOf(config: Config, later: Config): Config {
  if (!limitsCanChange(config) || !limitsCanChange(later)) return config;
  const limits = Object.entries(later).filter(([name]) => isLimit(name));
  return { ...withoutLimits(config), ...Object.fromEntries(limits) };
}

/** Removes rate limits that can change while tasks run. */
export function withoutLimits(config: Config): Config {
  if (!limitsCanChange(config)) return config;
  return Object.fromEntries(Object.entries(config).filter(([name]) => !isLimit(name)));
}

/** False for limits with variables, which are resolved when a task starts, and for invalid limits. */
export function limitsCanChange(config: Config): boolean {
  return Object.entries(config).every(([name, value]) => !isLimit(name) || /^(?:-1|[1-9]\d{0,17})$/.test(value.trim()));
}

function isLimit(name: string): boolean {
  return Object.hasOwn(rateLimitOptions, name);
}
