import { ConfigResolver } from '../config/providers/config-resolver.ts';
import { openProviders } from '../config/providers/open-providers.ts';
import type { WorkerConfig } from '../config/worker-config.ts';
import type { Plugin } from '../connect/api.ts';
import { openPluginPath } from '../connect/plugins/path/plugin-path.ts';
import { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { ConnectorValidation, type ValidationSettings } from '../herder/validation.ts';
import type { Logger } from '../observe/logger.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import { builtInPlugins, configProviderFinder } from './built-in-plugins.ts';
import { clientOverrides } from './task-settings.ts';

interface PluginSurroundings {
  /** Plugins in addition to the built-in ones. */
  readonly plugins: readonly Plugin[];
  readonly secrets: SecretMask;
  readonly logger: Logger;
}

export interface OpenedPlugins {
  readonly plugins: PluginRegistry;
  readonly resolver: ConfigResolver;
}

/** Opens the plugins and config providers of a worker. The caller must close the resolver. */
export async function openPlugins(
  config: WorkerConfig,
  { plugins: given, secrets, logger }: PluginSurroundings,
): Promise<OpenedPlugins> {
  const pluginPath = await openPluginPath(config.common['plugin.path'], logger);
  const builtIn = await builtInPlugins({ strictJson: config.own['json.converter.strict'] });
  const plugins = new PluginRegistry([...builtIn, ...given], pluginPath.plugins);
  for (const { className, version, location } of plugins.hidden) {
    logger.warn(
      `The plugin ${className} ${version} in ${location} is ignored: a plugin with this class and version already exists`,
    );
  }
  const providers = await openProviders(config.properties, configProviderFinder(pluginPath), logger);
  return { plugins, resolver: new ConfigResolver(providers, secrets, logger) };
}

/** Creates the validation of connector configurations. */
export function connectorValidation(
  config: WorkerConfig,
  { plugins, resolver }: OpenedPlugins,
  secrets: SecretMask,
  cluster: Pick<ValidationSettings, 'workerGroupId' | 'exactlyOnceSources'>,
  logger: Logger,
): ConnectorValidation {
  const settings = {
    ...cluster,
    converterConfig: config.converterConfig,
    overridePolicy: clientOverrides(config),
    topicCreationEnabled: config.common['topic.creation.enable'],
  };
  return new ConnectorValidation(plugins, resolver, secrets, settings, logger);
}
