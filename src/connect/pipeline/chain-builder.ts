import { listEntries } from '../../config/list-text.ts';
import { withPrefix } from '../../config/worker-config.ts';
import { ConfigError } from '../../errors.ts';
import type { ConnectorConfig } from '../api.ts';
import type { PluginRegistry } from '../plugins/plugin-registry.ts';
import { wantedVersion } from '../plugins/plugins-of-config.ts';
import { TransformationChain, type TransformationStep } from './transformation-chain.ts';

/**
 * Creates the transforms of a connector in order, each with its predicate. Throws a ConfigError for an invalid configuration,
 * and if a predicate is not declared.
 */
export function transformationChain(config: ConnectorConfig, plugins: PluginRegistry): TransformationChain {
  const predicates = new Set(listEntries(config['predicates']));
  const steps = listEntries(config['transforms']).map((alias): TransformationStep => {
    const prefix = `transforms.${alias}.`;
    const wanted = wantedVersion(config, `${prefix}plugin.version`);
    const plugin = plugins.find('transformation', config[`${prefix}type`] ?? '', wanted);
    const step = { alias, className: plugin.className, transformation: plugin.create(withPrefix(config, prefix)) };
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
  const wanted = wantedVersion(config, `${prefix}plugin.version`);
  return plugins.find('predicate', config[`${prefix}type`] ?? '', wanted).create(withPrefix(config, prefix));
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true';
}
