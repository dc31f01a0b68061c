import { ConfigError } from '../../errors.ts';

/**
 * Parameter `ttl.ms` of a provider whose values may change while the worker runs (Java's providers do not have it). Absent: the
 * values do not expire.
 */
export function ttlMsOf(parameters: Readonly<Record<string, string>>): number | undefined {
  const text = parameters['ttl.ms']?.trim() ?? '';
  if (text === '') return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new ConfigError(`Invalid value ${text} for configuration ttl.ms: Not a number of milliseconds`);
  return Number(text);
}
