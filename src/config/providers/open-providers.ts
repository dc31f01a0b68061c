import { ConfigError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { listEntries } from '../list-text.ts';
import { withPrefix, type Properties } from '../worker-config.ts';
import type { ConfigProvider, ConfigProviderPlugin } from './config-provider.ts';

/** Finds a provider by class name. */
export type ProviderFinder = (className: string) => Promise<ConfigProviderPlugin | undefined>;

/**
 * Opens the providers in `config.providers`, configured by `config.providers.<name>.class` and `.param.…`. A name without a class
 * is skipped with a warning, as in Java. Throws a ConfigError for an unknown class or invalid parameters, after closing the
 * providers opened before.
 */
export async function openProviders(
  properties: Properties,
  find: ProviderFinder,
  logger: Logger,
): Promise<ReadonlyMap<string, ConfigProvider>> {
  const providers = new Map<string, ConfigProvider>();
  try {
    await openAll(providers, properties, find, logger);
    return providers;
  } catch (error) {
    await Promise.allSettled([...providers.values()].map(async (provider) => provider.close?.()));
    throw error;
  }
}

async function openAll(
  providers: Map<string, ConfigProvider>,
  properties: Properties,
  find: ProviderFinder,
  logger: Logger,
): Promise<void> {
  for (const name of listEntries(properties['config.providers'])) {
    const option = `config.providers.${name}.class`;
    const className = properties[option]?.trim();
    if (className === undefined || className === '') {
      logger.warn(`${option} is not set: variables \${${name}:…} are not resolved`);
      continue;
    }
    const plugin = await find(className);
    if (plugin === undefined) {
      throw new ConfigError(
        `Invalid value ${className} for configuration ${option}: Could not load config provider class or one of its dependencies`,
      );
    }
    providers.set(name, create(plugin, name, properties, logger));
  }
}

function create(plugin: ConfigProviderPlugin, name: string, properties: Properties, logger: Logger): ConfigProvider {
  try {
    return plugin.create(withPrefix(properties, `config.providers.${name}.param.`), {
      logger: logger.child({ logger: plugin.className }),
    });
  } catch (error) {
    throw new ConfigError(`config.providers.${name}: ${toError(error).message}`, { cause: error });
  }
}
