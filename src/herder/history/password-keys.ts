import type { OptionType } from '../../config/option.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { pluginsOf } from '../../connect/plugins/plugins-of-config.ts';
import type { KeptConfig } from './history-entry.ts';

/** Keys of a configuration that its plugins declare as passwords. */
export async function passwordKeys(config: KeptConfig, plugins: PluginRegistry): Promise<string[]> {
  const types = await declaredTypes(config, plugins);
  return [...types].flatMap(([key, type]) => (type === 'PASSWORD' ? [key] : []));
}

/** Of the keys of a configuration that its plugins declare. Of plugins that cannot be loaded nothing is known. */
export async function declaredTypes(
  config: KeptConfig,
  plugins: PluginRegistry,
): Promise<ReadonlyMap<string, OptionType>> {
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
      // It is not loaded.
      return [];
    }
  });
  return new Map(declared);
}
