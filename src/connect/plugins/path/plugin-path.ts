import type { ConfigProviderPlugin } from '../../../config/providers/config-provider.ts';
import { compareVersions } from '../../../config/version-range.ts';
import type { Logger } from '../../../observe/logger.ts';
import type { Plugin } from '../../api.ts';
import { ExternalPlugin } from './external-plugin.ts';
import { scanPluginPath } from './scan.ts';

/** The plugins in `plugin.path`. Each plugin is loaded when it is needed. */
export interface PluginPath {
  readonly plugins: readonly (ExternalPlugin & { readonly type: Plugin['type'] })[];
  /** Resolves with the newest config provider of this class name. */
  configProvider(className: string): Promise<ConfigProviderPlugin | undefined>;
}

/** Finds the packages. Logs a warning for each entry of `plugin.path`, folder or package that cannot be used. */
export async function openPluginPath(entries: readonly string[] | null, logger: Logger): Promise<PluginPath> {
  const { packages, warnings } = await scanPluginPath(entries ?? []);
  for (const warning of warnings) logger.warn(warning);
  const all = packages.flatMap((each) => each.classes.map((packaged) => new ExternalPlugin(each, packaged, logger)));
  return {
    plugins: all.filter(
      (plugin): plugin is ExternalPlugin & { type: Plugin['type'] } => plugin.type !== 'config_provider',
    ),
    configProvider: async (className) => {
      const [newest] = all
        .filter((plugin) => plugin.type === 'config_provider' && plugin.className === className)
        .sort((a, b) => compareVersions(b.version, a.version));
      return (await newest?.load()) as ConfigProviderPlugin | undefined;
    },
  };
}
