import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { pluginsOf } from '../../connect/plugins/plugins-of-config.ts';
import type { KeptConfig } from './history-entry.ts';

/** Keys of a configuration that its plugins declare as passwords. Of plugins that cannot be loaded nothing is known. */
export async function passwordKeys(config: KeptConfig, plugins: PluginRegistry): Promise<string[]> {
  const given = Object.fromEntries(
    Object.entries(config).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  await plugins.prepare(given).catch(() => undefined);
  return pluginsOf(given).flatMap(({ kind, name, wanted, prefix }) => {
    try {
      const { options = {} } = plugins.tryFind(kind, name, wanted) ?? {};
      return Object.entries(options)
        .filter(([key, { type }]) => type === 'PASSWORD' && Object.hasOwn(given, prefix + key))
        .map(([key]) => prefix + key);
    } catch {
      // It is not loaded.
      return [];
    }
  });
}
