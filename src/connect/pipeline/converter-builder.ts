import { withPrefix } from '../../config/worker-config.ts';
import type { ConnectorConfig } from '../api.ts';
import type { PluginRegistry } from '../plugins/plugin-registry.ts';
import { wantedVersion } from '../plugins/plugins-of-config.ts';
import type { Converters } from './record-converter.ts';

/**
 * Adds the worker's key, value or header converter if the connector does not name its own. The version and the sub-keys
 * of a converter are taken from the configuration that names its class.
 */
export function withDefaultConverters(config: ConnectorConfig, defaults: ConnectorConfig): ConnectorConfig {
  const missing = ['key.converter', 'value.converter', 'header.converter'].filter(
    (prefix) => config[prefix] === undefined,
  );
  const belongsTo = (prefix: string, key: string) => key === prefix || key.startsWith(`${prefix}.`);
  const own = Object.entries(config).filter(([key]) => !missing.some((prefix) => belongsTo(prefix, key)));
  const added = Object.entries(defaults).filter(([key]) => missing.some((prefix) => belongsTo(prefix, key)));
  return Object.fromEntries([...own, ...added]);
}

/** Creates the converters of a configuration that names all of them. Throws a ConfigError that names the invalid option. */
export function buildConverters(config: ConnectorConfig, plugins: PluginRegistry): Converters {
  const chosen = (prefix: string) => ({
    className: config[prefix] ?? '',
    version: wantedVersion(config, `${prefix}.plugin.version`),
    options: withPrefix(config, `${prefix}.`),
  });
  const key = chosen('key.converter');
  const value = chosen('value.converter');
  const header = chosen('header.converter');
  const keyPlugin = plugins.find('converter', key.className, key.version);
  const valuePlugin = plugins.find('converter', value.className, value.version);
  const headerPlugin = plugins.find('header_converter', header.className, header.version);
  return {
    key: keyPlugin.create({ ...key.options, 'converter.type': 'key' }, true),
    keyClass: keyPlugin.className,
    value: valuePlugin.create({ ...value.options, 'converter.type': 'value' }, false),
    valueClass: valuePlugin.className,
    header: headerPlugin.create({ ...header.options, 'converter.type': 'header' }),
    headerClass: headerPlugin.className,
  };
}
