import { sinkConnectorOptions, sourceConnectorOptions } from './connector-options.ts';
import type { Importance, OptionDeclaration, OptionDeclarations, Recommender, Validator } from './option.ts';
import { parseValue, type RawConfig } from './parse.ts';
import {
  installedVersion,
  kindMismatch,
  recommendClasses,
  recommendVersions,
  versionMismatch,
  type ChoiceKind,
  type PluginChoice,
  type PluginChoices,
} from './plugin-choices.ts';
import { invalidValueText } from './to-text.ts';
import type { Properties } from './worker-config.ts';

/** The properties of a connector and its worker on which Connect's own options depend. */
export interface ConnectorContext {
  readonly type: 'sink' | 'source';
  readonly connector: PluginChoice;
  readonly plugins: PluginChoices;
  /** The worker's converters, which a connector uses unless it names its own. */
  readonly converterConfig: Properties;
}

/**
 * Connect's own options for a configuration: the common ones with the installed plugins as recommended values and the worker's
 * converters as defaults, then those of each transformation and predicate.
 */
export function connectorOptionsFor(config: RawConfig, context: ConnectorContext): OptionDeclarations {
  const { type, connector, plugins } = context;
  const base: OptionDeclarations = type === 'sink' ? sinkConnectorOptions : sourceConnectorOptions;
  return {
    ...base,
    ...versionOption(base, 'connector', 'connector.class', newestOf(connector, plugins), plugins),
    ...converterOptions(base, 'key.converter', 'converter', config, context),
    ...converterOptions(base, 'value.converter', 'converter', config, context),
    ...converterOptions(base, 'header.converter', 'header_converter', config, context),
    ...aliasOptions('transforms', config, plugins),
    ...aliasOptions('predicates', config, plugins),
  };
}

function newestOf(connector: PluginChoice, plugins: PluginChoices): PluginChoice {
  return plugins.tryFind('connector', connector.className) ?? connector;
}

function converterOptions(
  base: OptionDeclarations,
  option: string,
  kind: ChoiceKind,
  config: RawConfig,
  { plugins, converterConfig }: ConnectorContext,
): OptionDeclarations {
  const declared = base[option];
  if (declared === undefined) return {};
  const byDefault = converterConfig[option] ?? null;
  const newest = plugins.tryFind(kind, (config[option] ?? byDefault ?? '').trim());
  const ofKind = classOfKind(plugins, kind, declared.validator?.text ?? '');
  const mismatch = converterMismatch(option, kind, config, plugins);
  return {
    [option]: {
      ...declared,
      default: byDefault === null ? null : (plugins.tryFind(kind, byDefault)?.className ?? byDefault),
      recommender: recommendClasses(plugins, kind),
      validator: mismatch === undefined ? ofKind : { ...ofKind, check: () => ({ message: mismatch }) },
    },
    ...versionOption(base, kind, option, newest, plugins),
  };
}

/**
 * The error message if the connector names its own converter and requests a version of it that is not installed. The
 * options of the converter are unknown then.
 */
export function converterMismatch(
  option: string,
  kind: ChoiceKind,
  config: RawConfig,
  plugins: PluginChoices,
): string | undefined {
  const wanted = config[`${option}.plugin.version`] ?? '';
  const plugin = plugins.tryFind(kind, (config[option] ?? '').trim(), wanted);
  return plugin === undefined || wanted === '' ? undefined : versionMismatch(plugins, plugin, wanted);
}

/** `<option>.plugin.version` (`connector.plugin.version` for `connector.class`) with the newest version as default. */
function versionOption(
  base: OptionDeclarations,
  kind: ChoiceKind,
  option: string,
  newest: PluginChoice | undefined,
  plugins: PluginChoices,
): OptionDeclarations {
  const name = kind === 'connector' ? 'connector.plugin.version' : `${option}.plugin.version`;
  const declared = base[name];
  if (declared === undefined) return {};
  return {
    [name]: {
      ...declared,
      default: newest?.version ?? null,
      validator: someVersion(kind, newest, plugins),
      recommender: recommendVersions(plugins, kind, option),
    },
  };
}

/** Accepts any installed version of the class. */
function someVersion(kind: ChoiceKind, newest: PluginChoice | undefined, plugins: PluginChoices): Validator {
  return {
    text: '',
    check(name, value) {
      const wanted = typeof value === 'string' ? value : undefined;
      const plugin = newest && plugins.tryFind(kind, newest.className, wanted);
      return installedVersion(plugins, plugin).check(name, value);
    },
  };
}

function classOfKind(plugins: PluginChoices, kind: ChoiceKind, text: string): Validator {
  return {
    text,
    check(_name, value) {
      const message = typeof value === 'string' ? kindMismatch(plugins, kind, value) : undefined;
      return message === undefined ? undefined : { message };
    },
  };
}

const ALIASED = {
  transforms: { kind: 'transformation', group: 'Transforms', noun: 'Transformation' },
  predicates: { kind: 'predicate', group: 'Predicates', noun: 'Predicate' },
} as const;

const CONDITION: OptionDeclarations = {
  predicate: {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation: 'Alias of the predicate that decides whether the transformation is applied.',
  },
  negate: {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'Whether the transformation is applied to the records that the predicate does not match, instead of those that it matches.',
  },
};

/** The options of every transformation or predicate with an alias in the configuration. */
function aliasOptions(family: keyof typeof ALIASED, config: RawConfig, plugins: PluginChoices): OptionDeclarations {
  const aliases = parseValue(family, 'LIST', config[family] ?? '') as readonly string[];
  const declarations: Record<string, OptionDeclaration> = {};
  for (const alias of new Set(aliases)) Object.assign(declarations, optionsOfAlias(family, alias, config, plugins));
  return declarations;
}

function optionsOfAlias(
  family: keyof typeof ALIASED,
  alias: string,
  config: RawConfig,
  plugins: PluginChoices,
): OptionDeclarations {
  const { kind, group: familyGroup, noun } = ALIASED[family];
  const prefix = `${family}.${alias}.`;
  const group = `${familyGroup}: ${alias}`;
  const className = (config[`${prefix}type`] ?? '').trim();
  const newest = className === '' ? undefined : plugins.tryFind(kind, className);
  const wanted = config[`${prefix}plugin.version`]?.trim() ?? '';
  const plugin = newest && plugins.tryFind(kind, newest.className, wanted);
  const mismatch = plugin === undefined || wanted === '' ? undefined : versionMismatch(plugins, plugin, wanted);
  const isKnown = plugin !== undefined && mismatch === undefined;
  const own = isKnown ? { ...plugin.options, ...(family === 'transforms' ? CONDITION : {}) } : {};
  const ofKind = classOfKind(plugins, kind, '');
  const ofVersion = mismatch === undefined ? ofKind : { ...ofKind, check: () => ({ message: mismatch }) };
  return {
    [`${prefix}type`]: {
      type: 'CLASS',
      importance: 'HIGH',
      documentation: `Class of the ${noun.toLowerCase()} ${alias}.`,
      group,
      order: 0,
      width: 'LONG',
      displayName: `${noun} type for ${alias}`,
      validator: aliasType(alias, noun, prefix, config, ofVersion),
      recommender: recommendClasses(plugins, kind),
    },
    [`${prefix}plugin.version`]: {
      type: 'STRING',
      default: newest?.version ?? null,
      importance: 'HIGH',
      documentation: `Version of the ${noun.toLowerCase()} ${alias}.`,
      group,
      order: 1,
      width: 'LONG',
      displayName: `${noun} version for ${alias}`,
      validator: installedVersion(plugins, plugin),
      recommender: { ...recommendVersions(plugins, kind, `${prefix}type`), visible: () => true },
    },
    ...embedded(prefix, group, 2, own),
  };
}

function aliasType(alias: string, noun: string, prefix: string, config: RawConfig, ofKind: Validator): Validator {
  return {
    text: `valid configs for ${alias} ${noun.toLowerCase()}`,
    check(name, value) {
      if (config[`${prefix}negate`] !== undefined && config[`${prefix}predicate`] === undefined) {
        return {
          message: `Config '${prefix}negate' was provided but there is no config '${prefix}predicate' defining a predicate to be negated.`,
        };
      }
      return ofKind.check(name, value);
    },
  };
}

const BY_IMPORTANCE: readonly Importance[] = ['HIGH', 'MEDIUM', 'LOW'];

/**
 * A plugin's options under a prefix (ConfigDef.embed): required ones first, then by importance, then by name. Validators and
 * recommenders receive names without the prefix.
 */
function embedded(
  prefix: string,
  group: string,
  firstOrder: number,
  declarations: OptionDeclarations,
): OptionDeclarations {
  const sorted = Object.entries(declarations)
    .filter(([, option]) => option.internal !== true)
    .sort(
      ([aName, a], [bName, b]) =>
        Number(b.default === undefined) - Number(a.default === undefined) ||
        BY_IMPORTANCE.indexOf(a.importance) - BY_IMPORTANCE.indexOf(b.importance) ||
        (aName < bName ? -1 : 1),
    );
  return Object.fromEntries(
    sorted.map(([name, option], index): [string, OptionDeclaration] => [
      `${prefix}${name}`,
      {
        ...option,
        group: option.group === undefined ? group : `${group}: ${option.group}`,
        order: firstOrder + index,
        displayName: option.displayName ?? name,
        ...(option.validator === undefined ? {} : { validator: unprefixedValidator(name, option.validator, option) }),
        ...(option.dependents === undefined ? {} : { dependents: option.dependents.map((each) => `${prefix}${each}`) }),
        ...(option.recommender === undefined
          ? {}
          : { recommender: unprefixedRecommender(prefix, name, option.recommender) }),
      },
    ]),
  );
}

function unprefixedValidator(name: string, validator: Validator, { type }: OptionDeclaration): Validator {
  return {
    ...validator,
    check(_prefixed, value) {
      const verdict = validator.check(name, value);
      return typeof verdict === 'string' ? { message: invalidValueText(name, value, verdict, type) } : verdict;
    },
  };
}

function unprefixedRecommender(prefix: string, name: string, recommender: Recommender): Recommender {
  const own = (parsed: ReadonlyMap<string, unknown>) =>
    new Map(
      [...parsed].flatMap(([key, value]) =>
        key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [],
      ),
    );
  return {
    validValues: (_prefixed, parsed) => recommender.validValues(name, own(parsed)),
    visible: (_prefixed, parsed) => recommender.visible(name, own(parsed)),
  };
}
