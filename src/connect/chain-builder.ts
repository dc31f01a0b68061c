import { listEntries } from '../config/list-text.ts';
import { parseVersionRange } from '../config/version-range.ts';
import { withPrefix } from '../config/worker-config.ts';
import { ConfigError } from '../errors.ts';
import type { ConnectorConfig, PredicatePlugin, TransformationPlugin } from './api.ts';
import type { PluginRegistry } from './plugin-registry.ts';
import { TransformationChain, type TransformationStep } from './transformation-chain.ts';

/**
 * The transforms of a connector in order, each with its predicate. Throws a ConfigError for what a validation would not
 * have let through, and for a predicate that is not declared.
 */
export function transformationChain(config: ConnectorConfig, plugins: PluginRegistry): TransformationChain {
  const predicates = new Set(listEntries(config['predicates']));
  const steps = listEntries(config['transforms']).map((alias): TransformationStep => {
    const prefix = `transforms.${alias}.`;
    const plugin = installed(plugins.find('transformation', config[`${prefix}type`] ?? ''), prefix, config);
    const step = { className: plugin.className, transformation: plugin.create(withPrefix(config, prefix)) };
    const predicate = config[`${prefix}predicate`];
    if (predicate === undefined) return step;
    if (!predicates.has(predicate)) {
      throw new ConfigError(`The transform ${alias} names the predicate ${predicate}, which is not in predicates`);
    }
    const condition = { predicate: predicateOf(predicate, config, plugins), negate: isTrue(config[`${prefix}negate`]) };
    return { ...step, condition };
  });
  return new TransformationChain(steps);
}

function predicateOf(alias: string, config: ConnectorConfig, plugins: PluginRegistry) {
  const prefix = `predicates.${alias}.`;
  const plugin = installed(plugins.find('predicate', config[`${prefix}type`] ?? ''), prefix, config);
  return plugin.create(withPrefix(config, prefix));
}

/** The plugin, if it is of a version that the configuration takes. */
function installed<P extends TransformationPlugin | PredicatePlugin>(
  plugin: P,
  prefix: string,
  config: ConnectorConfig,
): P {
  const wanted = config[`${prefix}plugin.version`];
  if (wanted === undefined) return plugin;
  const range = parseVersionRange(wanted);
  if (range === undefined) throw new ConfigError(`Invalid version range for ${prefix}plugin.version: ${wanted}`);
  if (range.includes(plugin.version)) return plugin;
  throw new ConfigError(
    `Plugin ${plugin.className} not found that matches the version range ${range.text}, available versions: [${plugin.version}]`,
  );
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true';
}
