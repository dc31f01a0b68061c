import type { Logger } from '../../observe/logger.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { isSecretName } from '../password.ts';
import type { Properties } from '../worker-config.ts';
import { ConfigResolver } from './config-resolver.ts';
import { openProviders, type ProviderFinder } from './open-providers.ts';

const PLUGIN_PATH = 'plugin.path';

/**
 * Resolves variables in the worker's own properties. The providers are configured by the unresolved properties, and `plugin.path`,
 * from which providers may be loaded, is not resolved. Rejects with a ConfigError.
 */
export async function resolveWorkerProperties(
  properties: Properties,
  find: ProviderFinder,
  secrets: SecretMask,
  logger: Logger,
): Promise<{ readonly properties: Properties; readonly warnings: readonly string[] }> {
  const resolver = new ConfigResolver(await openProviders(properties, find, logger), secrets, logger, isSecretName);
  try {
    const { config } = await resolver.resolve(properties);
    const pluginPath = properties[PLUGIN_PATH];
    if (pluginPath === undefined || config[PLUGIN_PATH] === pluginPath) return { properties: config, warnings: [] };
    return {
      properties: { ...config, [PLUGIN_PATH]: pluginPath },
      warnings: [`Variables cannot be used in ${PLUGIN_PATH}; it is used unchanged: ${pluginPath}`],
    };
  } finally {
    await resolver.close();
  }
}
