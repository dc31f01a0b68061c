import { listEntries } from '../config/list-text.ts';
import { installedVersion } from '../config/plugin-choices.ts';
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

function installed<P extends TransformationPlugin | PredicatePlugin>(
  plugin: P,
  prefix: string,
  config: ConnectorConfig,
): P {
  const option = `${prefix}plugin.version`;
  const wrong = installedVersion(plugin).check(option, config[option]);
  if (wrong !== undefined) throw new ConfigError(typeof wrong === 'string' ? wrong : wrong.message);
  return plugin;
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true';
}
