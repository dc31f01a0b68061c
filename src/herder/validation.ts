import type { ConnectorConfig, ConnectorPlugin } from '../connect/api.ts';
import type { PluginRegistry } from '../connect/plugin-registry.ts';
import { validateConnectorSections } from '../config/connector-sections.ts';
import { configInfos, type ConfigInfos } from '../config/config-values.ts';
import type { OptionResult } from '../config/option.ts';
import { RequestError } from '../errors.ts';
import { sinkConflicts } from './sink-conflicts.ts';

/** A configuration before validation: JSON `null` may still be in it. */
export type RawConnectorConfig = Readonly<Record<string, string | null>>;

export interface ValidationParts {
  readonly plugins: PluginRegistry;
  /** `key.converter` and its like of the worker, with their sub-keys. */
  readonly converterConfig: ConnectorConfig;
  /** `group.id`, of a distributed worker. */
  readonly workerGroupId: string | undefined;
}

const NULL_VALUE = 'Null value can not be supplied as the configuration value.';

/**
 * Checks connector configurations (org.apache.kafka.connect.runtime.AbstractHerder#validateConnectorConfig): all options of
 * Connect, of the plugin and of its converters and transforms, every error at once.
 */
export class ConnectorValidation {
  readonly plugins: PluginRegistry;
  readonly #parts: ValidationParts;

  constructor(parts: ValidationParts) {
    this.plugins = parts.plugins;
    this.#parts = parts;
  }

  /** The answer of `PUT /connector-plugins/{plugin}/config/validate`. */
  async validateFor(pluginName: string, config: RawConnectorConfig): Promise<ConfigInfos> {
    const plugin = this.#pluginOf(config);
    if (this.plugins.tryFind('connector', pluginName) !== plugin) {
      throw new RequestError(
        400,
        `Included connector type ${String(config['connector.class'])} does not match request type ${pluginName}`,
      );
    }
    return this.#validate(plugin, config);
  }

  /** The configuration, now without nulls, or a RequestError with Connect's list of what is wrong. */
  async requireValid(config: RawConnectorConfig): Promise<ConnectorConfig> {
    const infos = await this.#validate(this.#pluginOf(config), config);
    const messages = infos.configs.flatMap(({ value }) => value.errors);
    if (messages.length > 0) throw new RequestError(400, invalid(messages));
    return withoutNulls(config);
  }

  async #validate(plugin: ConnectorPlugin, config: RawConnectorConfig): Promise<ConfigInfos> {
    const { plugins, converterConfig, workerGroupId } = this.#parts;
    const surroundings = { type: plugin.type, connector: plugin, plugins, converterConfig };
    const sections = validateConnectorSections(config, surroundings);
    const more = plugin.type === 'sink' ? [...sinkConflicts(config, workerGroupId)] : [];
    const ownAreFine = sections[1]?.results.every(({ errors }) => errors.length === 0) ?? true;
    if (plugin.validate !== undefined && ownAreFine) more.push(...(await plugin.validate(withoutNulls(config))));
    for (const [name, value] of Object.entries(config)) {
      if (value === null) more.push({ name, value, recommendedValues: [], errors: [NULL_VALUE], visible: true });
    }
    const extra = byName(more);
    const complete = sections.map(({ declarations, results }) => ({
      declarations,
      results: results.map((result) => {
        const found = extra.get(result.name);
        extra.delete(result.name);
        return found === undefined ? result : { ...result, errors: [...result.errors, ...found.errors] };
      }),
    }));
    return configInfos(plugin.className, complete, [...extra.values()]);
  }

  #pluginOf(config: RawConnectorConfig): ConnectorPlugin {
    const className = config['connector.class'];
    if (className === undefined || className === null) throw new RequestError(400, noType(config));
    return this.plugins.find('connector', className);
  }
}

/** One result per key, with the errors of all. */
function byName(results: readonly OptionResult[]): Map<string, OptionResult> {
  const merged = new Map<string, OptionResult>();
  for (const result of results) {
    const known = merged.get(result.name)?.errors ?? [];
    merged.set(result.name, { ...result, errors: [...known, ...result.errors] });
  }
  return merged;
}

function withoutNulls(config: RawConnectorConfig): ConnectorConfig {
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
  );
}

/** Never the values: secrets may be among them. */
function noType(config: RawConnectorConfig): string {
  return `Connector config {${Object.keys(config).join(', ')}} contains no connector type`;
}

function invalid(messages: readonly string[]): string {
  return [
    `Connector configuration is invalid and contains the following ${String(messages.length)} error(s):`,
    ...messages,
    'You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`',
  ].join('\n');
}
