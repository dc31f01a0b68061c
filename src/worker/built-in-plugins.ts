import type { ProviderFinder } from '../config/providers/open-providers.ts';
import type { Plugin, ServicePlugin } from '../connect/api.ts';
import type { PluginPath } from '../connect/plugins/path/plugin-path.ts';
import { ConfigError } from '../errors.ts';
import { lookupTable } from '../data/lookup-table.ts';

/** Loads the plugins that are part of the worker, in parallel. `strictJson` is `json.converter.strict` of the worker. */
export async function builtInPlugins(settings: { readonly strictJson: boolean }): Promise<Plugin[]> {
  const [sink, source, log, debezium, files, verifiable, converters, transforms, predicates] = await Promise.all([
    import('../../plugins/db-sink/plugin.ts'),
    import('../../plugins/db-source/plugin.ts'),
    import('../../plugins/log-source/plugin.ts'),
    import('../../plugins/log-source/transforms/registry.ts'),
    import('../../plugins/file-stream/plugin.ts'),
    import('../../plugins/verifiable/plugin.ts'),
    import('../converters/registry.ts'),
    import('../transforms/registry.ts'),
    import('../transforms/predicates/registry.ts'),
  ]);
  return [
    sink.dbSink,
    source.dbSource,
    log.postgresLogSource,
    ...debezium.debeziumTransforms,
    files.fileSink,
    files.fileSource,
    verifiable.verifiableSource,
    verifiable.verifiableSink,
    verifiable.schemaSource,
    verifiable.mockSource,
    verifiable.mockSink,
    ...converters.converterPlugins(settings),
    ...transforms.transformationPlugins,
    ...predicates.predicatePlugins,
  ];
}

/**
 * Finds config providers by their class names, first among those that are part of the worker. Only the requested provider is
 * loaded.
 */
export function configProviderFinder(pluginPath: PluginPath): ProviderFinder {
  return async (className) => {
    const { configProviderPlugins } = await import('../config/providers/registry.ts');
    const builtIn = configProviderPlugins.find((plugin) => plugin.className === className);
    return builtIn ?? pluginPath.configProvider(className);
  };
}

const SERVICES: Readonly<Record<string, () => Promise<ServicePlugin>>> = lookupTable({
  'database-http': async () => (await import('../../plugins/database-http/plugin.ts')).databaseHttp,
});

/** Loads the services that a worker names, and no others. */
export async function builtInServices(names: readonly string[]): Promise<readonly ServicePlugin[]> {
  return Promise.all(
    names.map(async (name) => {
      const load = SERVICES[name];
      if (load === undefined) {
        throw new ConfigError(`services: there is no service "${name}"; there are ${Object.keys(SERVICES).join(', ')}`);
      }
      return load();
    }),
  );
}
