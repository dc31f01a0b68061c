import { environmentProperties } from '../config/environment.ts';
import { imageProperties, withMetricsReporter } from '../config/image-environment.ts';
import { listEntries } from '../config/list-text.ts';
import { readPropertiesFile } from '../config/properties-file.ts';
import type { Properties } from '../config/worker-config.ts';
import { silentLogger, type Logger } from '../observe/logger.ts';
import type { SecretMask } from '../observe/secret-mask.ts';

export interface WorkerProperties {
  readonly properties: Properties;
  /** One sentence for each environment or provider variable that cannot be used. */
  readonly warnings: readonly string[];
}

/**
 * Reads the properties of a worker from the environment variables of the images of Debezium and Strimzi, from the file,
 * and from `CONNECT_*` variables. Later sources take precedence. Variables of config providers are replaced with their
 * values, which are added to `secrets`. Throws a ConfigError for an invalid file or provider.
 */
export async function readWorkerProperties(
  file: string | undefined,
  secrets: SecretMask,
  openLogger: (properties: Properties) => Promise<Logger>,
): Promise<WorkerProperties> {
  const environment = environmentProperties(process.env);
  const given = withMetricsReporter({
    ...imageProperties(process.env),
    ...(file === undefined ? {} : await readPropertiesFile(file)),
    ...environment.properties,
  });
  if (given['config.providers'] === undefined) return { properties: given, warnings: environment.warnings };
  const { resolveWorkerProperties } = await import('../config/providers/worker-variables.ts');
  const { configProviderFinder } = await import('./built-in-plugins.ts');
  const { openPluginPath } = await import('../connect/plugins/path/plugin-path.ts');
  // The worker logs the warnings about the plugin path later.
  const pluginPath = await openPluginPath(listEntries(given['plugin.path']), silentLogger);
  const find = configProviderFinder(pluginPath);
  const { properties, warnings } = await resolveWorkerProperties(given, find, secrets, await openLogger(given));
  return { properties, warnings: [...environment.warnings, ...warnings] };
}
