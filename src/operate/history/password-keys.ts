import { clientOptionType } from '../../config/client-definitions.ts';
import type { OptionType } from '../../config/option.ts';
import { isSecretValue } from '../../config/secret-values.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { pluginsOf } from '../../connect/plugins/plugins-of-config.ts';
import type { KeptConfig } from './history-entry.ts';

/** Keys of a configuration that its plugins declare as passwords. */
export async function passwordKeys(config: KeptConfig, plugins: PluginRegistry): Promise<string[]> {
  const types = await declaredTypes(config, plugins);
  return [...types].flatMap(([key, type]) => (type === 'PASSWORD' ? [key] : []));
}

/**
 * Keys whose values must not be shown, because their declared type, their name or the value indicates a secret
 * (`isSecretValue`).
 */
export async function secretKeys(config: KeptConfig, plugins: PluginRegistry): Promise<ReadonlySet<string>> {
  const typeOf = await optionTypes(config, plugins);
  const secret = Object.entries(config).filter(([key, value]) => isSecretValue(key, value ?? '', typeOf(key)));
  return new Set(secret.map(([key]) => key));
}

/** The types of a configuration's options, as its plugins and Kafka's clients declare them. */
export async function optionTypes(
  config: KeptConfig,
  plugins: PluginRegistry,
): Promise<(key: string) => OptionType | undefined> {
  const types = await declaredTypes(config, plugins);
  return (key) => types.get(key) ?? clientOptionType(key);
}

/** The types that the plugins of a configuration declare. A plugin that cannot be loaded declares nothing. */
async function declaredTypes(config: KeptConfig, plugins: PluginRegistry): Promise<ReadonlyMap<string, OptionType>> {
  const given = Object.fromEntries(
    Object.entries(config).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  await plugins.prepare(given).catch(() => undefined);
  const declared = pluginsOf(given).flatMap(({ kind, name, wanted, prefix }) => {
    try {
      const { options = {} } = plugins.tryFind(kind, name, wanted) ?? {};
      return Object.entries(options)
        .filter(([key]) => Object.hasOwn(given, prefix + key))
        .map(([key, { type }]) => [prefix + key, type] as const);
    } catch {
      // The plugin cannot be loaded.
      return [];
    }
  });
  return new Map(declared);
}
