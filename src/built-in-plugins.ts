import type { Plugin } from './connect/api.ts';

/** The plugins that ship with the worker, loaded side by side. `strictJson`: `json.converter.strict` of the worker. */
export async function builtInPlugins(settings: { readonly strictJson: boolean }): Promise<Plugin[]> {
  const [{ dbSink }, { dbSource }, { converterPlugins }] = await Promise.all([
    import('../plugins/db-sink/plugin.ts'),
    import('../plugins/db-source/plugin.ts'),
    import('./connect/converters/registry.ts'),
  ]);
  return [dbSink, dbSource, ...converterPlugins(settings)];
}
