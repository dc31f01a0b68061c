import type { ConnectorConfig, ConnectorPlugin } from '../connect/api.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { wantedVersion } from '../connect/plugins/plugins-of-config.ts';
import { validateConnectorSections, type ListedOptions } from '../config/connector-sections.ts';
import { configInfos, type ConfigInfos, type ValidatedSection } from '../config/config-values.ts';
import type { OptionResult } from '../config/option.ts';
import type { OverridePolicy } from '../config/override-policy.ts';
import { overrideSections } from '../config/override-sections.ts';
import { Password, isSecretName } from '../config/password.ts';
import type { ConfigResolver } from '../config/providers/config-resolver.ts';
import { unknownOptions, unknownOptionText } from '../config/unknown-options.ts';
import { withHiddenValues } from '../config/providers/hidden-results.ts';
import type { Finding } from '../data/finding.ts';
import { javaHashMapOrder } from '../java/java-hash-order.ts';
import { RequestError, toError } from '../errors.ts';
import { silentLogger, type Logger } from '../observe/logger.ts';
import { SecretMask } from '../observe/secret-mask.ts';
import { StageTracker } from '../observe/stage.ts';
import { sinkConflicts } from './sink-conflicts.ts';
import { sourceConflicts } from './source-conflicts.ts';

/** A configuration before validation. It may contain JSON `null`. */
export type RawConnectorConfig = Readonly<Record<string, string | null>>;

/** Settings of the worker that the validation depends on. */
export interface ValidationSettings {
  /** The worker's converters (`key.converter` …) with their sub-keys. */
  readonly converterConfig: ConnectorConfig;
  /** `group.id` of a distributed worker. */
  readonly workerGroupId: string | undefined;
  /** True if `exactly.once.source.support` is enabled. */
  readonly exactlyOnceSources: boolean;
  readonly overridePolicy: OverridePolicy;
  /** `topic.creation.enable` */
  readonly topicCreationEnabled: boolean;
}

const NULL_VALUE = 'Null value can not be supplied as the configuration value.';

interface AskedValidation {
  readonly listed?: ListedOptions;
  /** Set to false if variables of config providers must not be resolved. */
  readonly resolves?: boolean;
  /**
   * Set to false if the plugin must not connect to the services that the configuration names, because it would send
   * secrets to them.
   */
  readonly connects?: boolean;
}

export interface AskedConfig {
  /** If set, only errors of options for which this returns true count. */
  readonly counts?: (key: string) => boolean;
  readonly connects?: boolean;
}

/**
 * Validates connector configurations (org.apache.kafka.connect.runtime.AbstractHerder#validateConnectorConfig). It checks all
 * options of Connect, of the plugin and of its converters and transforms, and reports all errors together.
 */
export class ConnectorValidation {
  readonly plugins: PluginRegistry;
  readonly #resolver: ConfigResolver;
  readonly #secrets: SecretMask;
  readonly #settings: ValidationSettings;
  readonly #logger: Logger;

  /** `secrets` are values that responses must not contain. */
  constructor(
    plugins: PluginRegistry,
    resolver: ConfigResolver,
    secrets: SecretMask,
    settings: ValidationSettings,
    logger: Logger,
  ) {
    this.plugins = plugins;
    this.#resolver = resolver;
    this.#secrets = secrets;
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Returns the response of `PUT /connector-plugins/{plugin}/config/validate`. */
  async validateFor(
    pluginName: string,
    given: RawConnectorConfig,
    stage = new StageTracker(),
    asked: AskedValidation = { listed: 'connect' },
  ): Promise<ConfigInfos> {
    const config = asked.resolves === false ? given : await this.#resolve(given, stage);
    const className = config['connector.class'] ?? null;
    if (className !== null && !withoutSuffix(className).endsWith(withoutSuffix(pluginName))) {
      throw new RequestError(400, `Included connector type ${className} does not match request type ${pluginName}`);
    }
    return this.#validate(given, config, stage, asked);
  }

  /**
   * Returns the plugin, the configuration as the plugin would receive it, with resolved variables, and the passwords in
   * it. If the configuration is invalid, throws the RequestErrors of `requireValid` and `validateFor`.
   */
  async requireValidFor(
    pluginName: string,
    given: RawConnectorConfig,
    stage: StageTracker,
    { counts = () => true, connects = true }: AskedConfig = {},
  ): Promise<{ plugin: ConnectorPlugin; config: ConnectorConfig; passwords: string[] }> {
    const infos = await this.validateFor(pluginName, given, stage, { listed: 'connect', connects });
    requireNoErrors({ ...infos, configs: infos.configs.filter(({ value }) => counts(value.name)) });
    const resolved = await this.#resolve(given, stage);
    const secret = infos.configs.filter(({ definition }) => definition?.type === 'PASSWORD');
    const passwords = secret.flatMap(({ value }) => resolved[value.name] ?? []);
    return { plugin: await this.#pluginOf(given, resolved), config: withoutNulls(resolved), passwords };
  }

  /**
   * Returns the findings of the plugin about the systems that the configuration names, without secrets. `writesTo` is
   * called with the topics that a source would write. Throws a RequestError 400 if the configuration is invalid, or if the
   * plugin could not examine the systems.
   */
  async diagnose(
    pluginName: string,
    given: RawConnectorConfig,
    stage: StageTracker,
    signal: AbortSignal,
    writesTo: (topics: readonly string[]) => void = () => undefined,
  ): Promise<readonly Finding[]> {
    const { plugin, config, passwords } = await this.requireValidFor(pluginName, given, stage, { connects: false });
    const mask = new SecretMask();
    for (const password of passwords) mask.add(password);
    const hide = (text: string): string => mask.hide(this.#secrets.hide(text));
    const context = { logger: silentLogger, signal, writesTo };
    try {
      const asked = Promise.resolve(plugin.diagnose?.(config, context) ?? []);
      const findings = await stage.during('examining the systems that a connector uses', () => asked);
      return findings.map(({ level, about, message, remedy }) => ({
        ...{ level, about: hide(about), message: hide(message) },
        remedy: remedy === undefined ? undefined : hide(remedy),
      }));
    } catch (error) {
      throw new RequestError(400, hide(toError(error).message), { cause: error });
    }
  }

  /** Returns the configuration without nulls, or throws a RequestError with Connect's list of errors. */
  async requireValid(given: RawConnectorConfig, stage = new StageTracker()): Promise<ConnectorConfig> {
    const infos = await this.#validate(given, await this.#resolve(given, stage), stage);
    requireNoErrors(infos);
    this.#warnOfUnknownOptions(given, infos);
    return withoutNulls(given);
  }

  /** Logs unknown options. As in Java, they are not errors. */
  #warnOfUnknownOptions(given: RawConnectorConfig, { configs }: ConfigInfos): void {
    const known = configs.map(({ value }) => value.name);
    for (const unknown of unknownOptions(Object.keys(given), known)) {
      this.#logger.warn(`Connector ${given['name'] ?? ''}: ${unknownOptionText(unknown)}`);
    }
  }

  async #resolve(given: RawConnectorConfig, stage: StageTracker): Promise<RawConnectorConfig> {
    const { config } = await stage.during('resolving the variables of a connector configuration', () =>
      this.#resolver.resolve(given),
    );
    return config;
  }

  /** `config` is the given configuration with resolved variables. The response does not contain the resolved values. */
  async #validate(
    given: RawConnectorConfig,
    config: RawConnectorConfig,
    stage: StageTracker,
    asked: AskedValidation = {},
  ): Promise<ConfigInfos> {
    const plugin = await stage.during('loading the plugins of a connector', () => this.#pluginOf(given, config));
    const infos = await this.#validateResolved(plugin, config, stage, asked);
    const shown = withHiddenValues(infos, given, config, this.#secrets);
    return { ...shown, name: given['connector.class'] ?? shown.name };
  }

  async #validateResolved(
    plugin: ConnectorPlugin,
    config: RawConnectorConfig,
    stage: StageTracker,
    { listed, connects = true }: AskedValidation,
  ): Promise<ConfigInfos> {
    const { converterConfig, overridePolicy, topicCreationEnabled } = this.#settings;
    const surroundings = { type: plugin.type, connector: plugin, plugins: this.plugins, converterConfig };
    const [base, own, ...converters] = validateConnectorSections(config, surroundings, listed);
    const more = this.#conflicts(plugin, config);
    const areOwnOptionsValid = own?.results.every(({ errors }) => errors.length === 0) ?? true;
    if (connects && plugin.validate !== undefined && areOwnOptionsValid) {
      const asked = plugin.validate(withoutNulls(config));
      const name = config['name'] ?? '';
      more.push(...(await stage.during(`performing multi-property validation for the connector ${name}`, () => asked)));
    }
    for (const [name, value] of Object.entries(config)) {
      if (value === null) more.push({ name, value, recommendedValues: [], errors: [NULL_VALUE], visible: true });
    }
    const overrides = overrideSections(config, plugin.type, overridePolicy, topicCreationEnabled);
    const sections = [base, own, ...overrides, ...converters].filter((section) => section !== undefined);
    const { complete, undeclared } = withMore(sections, byName(more));
    return configInfos(config['connector.class'] ?? plugin.className, complete, undeclared);
  }

  /** Returns the plugin, and also loads all other plugins that the configuration names. */
  async #pluginOf(given: RawConnectorConfig, config: RawConnectorConfig): Promise<ConnectorPlugin> {
    const className = config['connector.class'];
    if (className === undefined || className === null) throw new RequestError(400, noType(given));
    // If the requested version does not exist, the error is reported for its option, with the existing versions.
    const wanted = wantedVersion(config, 'connector.plugin.version');
    const plugin = this.plugins.tryFind('connector', className, wanted) ?? this.plugins.find('connector', className);
    await this.plugins.prepare(withoutNulls(config));
    return this.plugins.load(plugin);
  }

  #conflicts(plugin: ConnectorPlugin, config: RawConnectorConfig): OptionResult[] {
    const { workerGroupId, exactlyOnceSources } = this.#settings;
    if (plugin.type === 'sink') return [...sinkConflicts(config, workerGroupId)];
    return sourceConflicts(withoutNulls(config), plugin, exactlyOnceSources);
  }
}

/**
 * Removes the suffix `Connector`. As in Java's ConnectorPluginsResource, plugin names are compared without this suffix.
 */
function withoutSuffix(name: string): string {
  return name.length > 'Connector'.length ? name.replace(/Connector$/, '') : name;
}

/**
 * Adds the errors of `extra` to the results of their options. Returns the errors of options without a result as
 * `undeclared`.
 */
function withMore(sections: readonly ValidatedSection[], extra: Map<string, OptionResult>) {
  const complete = sections.map(({ declarations, results }) => ({
    declarations,
    results: results.map((result) => {
      const found = extra.get(result.name);
      extra.delete(result.name);
      return found === undefined ? result : { ...result, errors: [...result.errors, ...found.errors] };
    }),
  }));
  return { complete, undeclared: [...extra.values()] };
}

/** Merges the results of each option. */
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

/**
 * Returns the message for a configuration without a connector type. Lists the options in the order of Java's map and hides
 * secrets.
 */
function noType(config: RawConnectorConfig): string {
  const entries = javaHashMapOrder(Object.keys(config), 'copy').map((key) => {
    const value = isSecretName(key) ? new Password('').toString() : String(config[key]);
    return `${key}=${value}`;
  });
  return `Connector config {${entries.join(', ')}} contains no connector type`;
}

function requireNoErrors(infos: ConfigInfos): void {
  const messages = infos.configs.flatMap(({ value }) => value.errors);
  if (messages.length > 0) throw new RequestError(400, invalid(messages));
}

function invalid(messages: readonly string[]): string {
  return [
    `Connector configuration is invalid and contains the following ${String(messages.length)} error(s):`,
    ...messages,
    'You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`',
  ].join('\n');
}
