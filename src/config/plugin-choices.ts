import type { OptionDeclarations, Recommender, Validator } from './option.ts';
import type { ClassFinder } from './parse.ts';
import { parseVersionRange } from './version-range.ts';

export type ChoiceKind = 'connector' | 'converter' | 'header_converter' | 'transformation' | 'predicate';

/** The properties of an installed plugin that validation needs. */
export interface PluginChoice {
  readonly className: string;
  readonly version: string;
  readonly options: OptionDeclarations;
}

export interface PluginChoices {
  ofType(kind: ChoiceKind): readonly PluginChoice[];
  /**
   * Finds a plugin by full name or alias. Returns its newest version in the range `wanted`. If there is no such version
   * or no range, returns its newest version.
   */
  tryFind(kind: ChoiceKind, name: string, wanted?: string): PluginChoice | undefined;
}

const INTERFACES: Readonly<Record<ChoiceKind, string>> = {
  connector: 'Connector',
  converter: 'Converter',
  header_converter: 'HeaderConverter',
  transformation: 'Transformation',
  predicate: 'Predicate',
};

/**
 * The plugin kind of the class that the option names; `undefined` for `connector.class` and the connector's own
 * options.
 */
function kindOfOption(option: string): ChoiceKind | undefined {
  if (option === 'key.converter' || option === 'value.converter') return 'converter';
  if (option === 'header.converter') return 'header_converter';
  if (/^transforms\..+\.type$/.test(option)) return 'transformation';
  return /^predicates\..+\.type$/.test(option) ? 'predicate' : undefined;
}

/** Finds the classes of options. Classes of another kind are found too, so that `kindMismatch` can report them. */
export function classFinder(plugins: PluginChoices): ClassFinder {
  return (name, option) => {
    const kind = kindOfOption(option);
    if (kind === undefined) return name;
    for (const candidate of [kind, ...KINDS]) {
      const found = plugins.tryFind(candidate, name);
      if (found !== undefined) return found.className;
    }
    return innerClasses(plugins, kind, name).length > 0 ? name : undefined;
  };
}

const KINDS = Object.keys(INTERFACES) as readonly ChoiceKind[];

/** Versions of a class. As in Java, a class of several plugin kinds has its version listed once for each kind. */
function versionsOf(plugins: PluginChoices, className: string): string[] {
  return KINDS.flatMap((kind) => plugins.ofType(kind))
    .filter((plugin) => plugin.className === className)
    .map(({ version }) => version);
}

/** The error message if a plugin does not match the wanted version or range. */
export function versionMismatch(plugins: PluginChoices, plugin: PluginChoice, wanted: string): string | undefined {
  const range = wanted === 'latest' ? undefined : parseVersionRange(wanted);
  if (range === undefined || range.includes(plugin.version)) return undefined;
  const versions = versionsOf(plugins, plugin.className).join(', ');
  return `Plugin ${plugin.className} not found that matches the version range ${range.text}, available versions: [${versions}]`;
}

/** The inner classes of a class that is not a plugin itself, for example `Cast$Key` and `Cast$Value` of `Cast`. */
function innerClasses(plugins: PluginChoices, kind: ChoiceKind, name: string): string[] {
  const names = plugins.ofType(kind).map(({ className }) => className);
  return names.filter((className) => className.startsWith(`${name}$`)).sort();
}

/** The error message if a class is not of the expected kind. */
export function kindMismatch(plugins: PluginChoices, kind: ChoiceKind, className: string): string | undefined {
  if (plugins.tryFind(kind, className) !== undefined) return undefined;
  const inner = innerClasses(plugins, kind, className);
  if (inner.length > 0) return `This class is abstract and cannot be created. Did you mean ${inner.join(', ')}?`;
  return `Class class ${className} does not implement the ${INTERFACES[kind]} interface`;
}

/** Recommends the classes of a kind. */
export function recommendClasses(plugins: PluginChoices, kind: ChoiceKind): Recommender {
  return {
    validValues: () => [...new Set(plugins.ofType(kind).map(({ className }) => className))],
    visible: () => true,
  };
}

/** Recommends the versions of the plugin that `option` names. The version option is hidden if `option` is not set. */
export function recommendVersions(plugins: PluginChoices, kind: ChoiceKind, option: string): Recommender {
  return {
    validValues: (_name, parsed) => {
      const name = parsed.get(option);
      const className = typeof name === 'string' ? plugins.tryFind(kind, name)?.className : undefined;
      const versions = plugins.ofType(kind).filter((plugin) => plugin.className === className);
      return versions.map(({ version }) => version);
    },
    visible: (_name, parsed) => parsed.get(option) !== null,
  };
}

/** Accepts versions and ranges that include the installed plugin. */
export function installedVersion(plugins: PluginChoices, plugin: PluginChoice | undefined): Validator {
  return {
    text: '',
    check(name, value) {
      if (typeof value !== 'string') return undefined;
      if (value !== 'latest' && parseVersionRange(value) === undefined)
        return { message: `Invalid version range for ${name}: ${value}` };
      const message = plugin === undefined ? undefined : versionMismatch(plugins, plugin, value);
      return message === undefined ? undefined : { message };
    },
  };
}
