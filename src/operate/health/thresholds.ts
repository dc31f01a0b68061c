import { healthOptions } from '../../config/health-options.ts';
import { parseOptions } from '../../config/parse.ts';
import type { Thresholds } from './verdict.ts';

type Config = Readonly<Record<string, string>>;

/**
 * The thresholds of a connector: its own options, otherwise those of the worker. If one of its options cannot be parsed,
 * for example because it is a variable, none of them is used.
 */
export function thresholdsOf(config: Config, worker: Config): Thresholds {
  const options = readable(config) ?? readable({}, worker) ?? parseOptions(healthOptions, {});
  return {
    stallAfterMs: Number(options['stall.after.ms']),
    degradedRate: options['degraded.rate'],
    laggingRecords: Number(options['lagging.records']),
  };

  function readable(own: Config, defaults = worker) {
    try {
      return parseOptions(healthOptions, { ...picked(defaults), ...picked(own) });
    } catch {
      return undefined;
    }
  }
}

function picked(config: Config): Config {
  return Object.fromEntries(
    Object.keys(healthOptions).flatMap((name) => (config[name] === undefined ? [] : [[name, config[name]]])),
  );
}
