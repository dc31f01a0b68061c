import type { ConnectorConfig, ConnectorPlugin } from '../connect/api.ts';
import type { PluginRegistry } from '../connect/plugin-registry.ts';
import { configInfos, type ConfigInfos, type ValidatedSection } from '../config/config-values.ts';
import { sinkConnectorOptions, sourceConnectorOptions } from '../config/connector-options.ts';
import type { OptionResult } from '../config/option.ts';
import { validateOptions } from '../config/parse.ts';
import { RequestError } from '../errors.ts';

/** A configuration before validation: JSON `null` may still be in it. */
export type RawConnectorConfig = Readonly<Record<string, string | null>>;

const NULL_VALUE = 'Null value can not be supplied as the configuration value.';

/**
 * Checks connector configurations (org.apache.kafka.connect.runtime.AbstractHerder#validateConnectorConfig): all options of
 * Connect and of the plugin, every error at once.
 */
export class ConnectorValidation {
  readonly plugins: PluginRegistry;
  readonly #workerGroupId: string | undefined;

  constructor(plugins: PluginRegistry, workerGroupId: string | undefined) {
    this.plugins = plugins;
    this.#workerGroupId = workerGroupId;
  }

  /** The answer of `PUT /connector-plugins/{plugin}/config/validate`. */
  async validateFor(pluginName: string, config: RawConnectorConfig): Promise<ConfigInfos> {
    const className = config['connector.class'];
    if (className === undefined || className === null) throw new RequestError(400, noType(config));
    const plugin = this.#find(className);
    if (this.#tryFind(pluginName) !== plugin) {
      throw new RequestError(400, `Included connector type ${className} does not match request type ${pluginName}`);
    }
    return this.#validate(plugin, config);
  }

  /** The configuration, now without nulls, or a RequestError with Connect's list of what is wrong. */
  async requireValid(config: RawConnectorConfig): Promise<ConnectorConfig> {
    const className = config['connector.class'];
    if (className === undefined || className === null) throw new RequestError(400, noType(config));
    const infos = await this.#validate(this.#find(className), config);
    const messages = infos.configs.flatMap(({ value }) => value.errors);
    if (messages.length > 0) throw new RequestError(400, invalid(messages));
    return Object.fromEntries(
      Object.entries(config).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
    );
  }

  async #validate(plugin: ConnectorPlugin, config: RawConnectorConfig): Promise<ConfigInfos> {
    const base = plugin.type === 'sink' ? sinkConnectorOptions : sourceConnectorOptions;
    const findClass = (type: 'converter' | 'header_converter') => (name: string) =>
      this.plugins.tryFind(type, name)?.className;
    const baseResults = validateOptions(base, config, {
      findClass: (name) => findClass('converter')(name) ?? findClass('header_converter')(name),
    });
    const ownResults = validateOptions(plugin.options, config);
    const results = new Map([...baseResults, ...ownResults].map((result) => [result.name, result]));
    if (plugin.type === 'sink') merge(results, this.#sinkErrors(config));
    const complete = withoutNulls(config);
    if (plugin.validate !== undefined && ownResults.every(({ errors }) => errors.length === 0)) {
      merge(results, await plugin.validate(complete));
    }
    const sections: ValidatedSection[] = [
      { declarations: base, results: baseResults.map(({ name }) => results.get(name)).filter(isPresent) },
      { declarations: plugin.options, results: ownResults.map(({ name }) => results.get(name)).filter(isPresent) },
    ];
    const nulls = Object.entries(config)
      .filter(([, value]) => value === null)
      .map(([name]) => ({ name, value: null, recommendedValues: [], errors: [NULL_VALUE], visible: true }));
    return configInfos(plugin.className, sections, nulls);
  }

  /** Rules over several options of a sink (SinkConnectorConfig.validate). */
  #sinkErrors(config: RawConnectorConfig): OptionResult[] {
    const errors = new Map<string, string[]>();
    const add = (name: string, message: string) => errors.set(name, [...(errors.get(name) ?? []), message]);
    const topics = list(config['topics']);
    const regex = config['topics.regex']?.trim() ?? '';
    const both = (message: string) => {
      add('topics', message);
      add('topics.regex', message);
    };
    if (topics.length === 0 && regex === '') both('Must configure one of topics or topics.regex');
    if (topics.length > 0 && regex !== '') {
      both('topics and topics.regex are mutually exclusive options, but both are set.');
    }
    const deadLetters = config['errors.deadletterqueue.topic.name']?.trim() ?? '';
    if (deadLetters !== '' && topics.includes(deadLetters)) {
      add(
        'topics',
        `The DLQ topic '${deadLetters}' may not be included in the list of topics ('topics=[${topics.join(', ')}]') consumed by the connector`,
      );
    }
    const group = this.#workerGroupId;
    const name = config['name'] ?? '';
    const override = config['consumer.override.group.id'];
    if (group !== undefined && override === group) {
      add('consumer.override.group.id', `Consumer group ${override} conflicts with Connect worker group ${group}`);
    } else if (group !== undefined && override === undefined && `connect-${name}` === group) {
      add('name', `Consumer group for sink connector named ${name} conflicts with Connect worker group ${group}`);
    }
    return [...errors].map(([key, messages]) => ({
      name: key,
      value: config[key] ?? null,
      recommendedValues: [],
      errors: messages,
      visible: true,
    }));
  }

  #find(className: string): ConnectorPlugin {
    return this.plugins.find('connector', className);
  }

  #tryFind(name: string): ConnectorPlugin | undefined {
    return this.plugins.tryFind('connector', name);
  }
}

/** Adds errors to the results of the same name; a name without one gets a result of its own. */
function merge(results: Map<string, OptionResult>, more: readonly OptionResult[]): void {
  for (const result of more) {
    const known = results.get(result.name);
    results.set(result.name, known === undefined ? result : { ...known, errors: [...known.errors, ...result.errors] });
  }
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

function withoutNulls(config: RawConnectorConfig): ConnectorConfig {
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, value]) => (value === null ? [] : [[key, value] as const])),
  );
}

function list(text: string | null | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Never the values: secrets may be among them. */
function noType(config: RawConnectorConfig): string {
  const keys = Object.keys(config).join(', ');
  return `Connector config {${keys}} contains no connector type`;
}

function invalid(messages: readonly string[]): string {
  return [
    `Connector configuration is invalid and contains the following ${String(messages.length)} error(s):`,
    ...messages,
    'You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`',
  ].join('\n');
}
