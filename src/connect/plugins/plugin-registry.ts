import { versionMismatch, type ChoiceKind } from '../../config/plugin-choices.ts';
import { compareVersions, parseVersionRange } from '../../config/version-range.ts';
import { ConfigError } from '../../errors.ts';
import type { ConnectorConfig, Plugin } from '../api.ts';
import type { ExternalPlugin } from './path/external-plugin.ts';
import { pluginsOf } from './plugins-of-config.ts';

export type PluginType = Plugin['type'] | 'connector';
type PluginOfType<T extends PluginType> = T extends 'connector'
  ? Extract<Plugin, { type: 'sink' | 'source' }>
  : Extract<Plugin, { type: T }>;

/** The description of a plugin, loaded or not. */
export interface PluginInfo {
  readonly type: Plugin['type'];
  readonly className: string;
  readonly version: string;
  /** `built-in`, or the folder of its package. */
  readonly location: string;
}

/** For each type of plugin: the suffix that an alias may omit, and the name of the interface in messages. */
const KINDS: Record<PluginType, { readonly suffix: string; readonly interfaceName: string }> = {
  connector: { suffix: 'Connector', interfaceName: 'Connector' },
  sink: { suffix: 'Connector', interfaceName: 'Connector' },
  source: { suffix: 'Connector', interfaceName: 'Connector' },
  converter: { suffix: 'Converter', interfaceName: 'Converter' },
  header_converter: { suffix: 'HeaderConverter', interfaceName: 'HeaderConverter' },
  transformation: { suffix: 'Transformation', interfaceName: 'Transformation' },
  predicate: { suffix: 'Predicate', interfaceName: 'Predicate' },
};

/** The order in which `GET /connector-plugins` lists types. */
const TYPE_ORDER: readonly Plugin['type'][] = [
  'sink',
  'source',
  'transformation',
  'predicate',
  'converter',
  'header_converter',
];

const BUILT_IN = 'built-in';

interface Entry {
  readonly info: PluginInfo;
  /** The plugin. Until it is loaded, a substitute with its type, class and version, which throws for other members. */
  plugin: Plugin;
  readonly external?: ExternalPlugin;
}

type ExternalPlugins = readonly (ExternalPlugin & { readonly type: Plugin['type'] })[];

/**
 * All plugins of the worker. A plugin can be found by its full class name, its simple name, or its simple name without the
 * suffix of its kind. If several versions match, the newest one is used, or the newest one in the requested range. Plugins of
 * `plugin.path` are loaded by `prepare`.
 */
export class PluginRegistry {
  readonly #entries: readonly Entry[];
  /** Plugins of `plugin.path` that are ignored because another plugin has the same type, class and version. */
  readonly hidden: readonly PluginInfo[];

  /** If two plugins have the same type, class and version, the first one is used. The worker's own plugins come first. */
  constructor(plugins: readonly Plugin[], external: ExternalPlugins = []) {
    const entries = new Map<string, Entry>();
    const hidden: PluginInfo[] = [];
    for (const entry of [...plugins.map(ownEntry), ...external.map(externalEntry)]) {
      const id = JSON.stringify([entry.info.type, entry.info.className, entry.info.version]);
      if (entries.has(id)) hidden.push(entry.info);
      else entries.set(id, entry);
    }
    this.#entries = [...entries.values()].sort(byPlaceInList);
    this.hidden = hidden;
  }

  all(): readonly PluginInfo[] {
    return this.#entries.map(({ info }) => info);
  }

  /** Returns the plugins in the order of the listing, and versions of a class from the oldest to the newest. */
  ofType<T extends PluginType>(type: T): readonly PluginOfType<T>[] {
    return this.#entries
      .map(({ plugin }) => plugin)
      .filter((plugin): plugin is PluginOfType<T> => isOfType(plugin, type));
  }

  /**
   * Loads the plugins that a configuration names, including those of `plugin.path`. Afterwards, the plugins that `find` returns
   * can be used. Rejects with a ConfigError if a plugin cannot be loaded; unknown names are ignored.
   */
  async prepare(config: ConnectorConfig): Promise<void> {
    await this.named(config);
  }

  /** Loads the plugins that a configuration names, and resolves with them. */
  async named(config: ConnectorConfig): Promise<Plugin[]> {
    const named = pluginsOf(config).flatMap(
      ({ kind, name, wanted }) => this.tryFind<PluginType>(kind, name, wanted) ?? [],
    );
    return Promise.all(named.map((plugin) => this.load(plugin)));
  }

  /** Loads a plugin that `find` returned, and resolves with it. */
  async load<P extends Plugin>(plugin: P): Promise<P> {
    const { type, className, version } = plugin;
    const entry = this.#entries.find(
      ({ info }) => info.type === type && info.className === className && info.version === version,
    );
    if (entry?.external === undefined) return plugin;
    const loaded = (await entry.external.load()) as P;
    entry.plugin = loaded;
    return loaded;
  }

  /**
   * Finds a plugin. Throws a ConfigError with Connect's message if the name matches no class or several classes, or if no
   * version is in the range `wanted`.
   */
  find<T extends PluginType>(type: T, nameOrAlias: string, wanted?: string): PluginOfType<T> {
    const found = this.tryFind(type, nameOrAlias, wanted);
    const mismatch = found === undefined ? undefined : this.#mismatch(type, found, wanted);
    if (mismatch !== undefined) throw new ConfigError(mismatch);
    if (found !== undefined) return found;
    const { interfaceName } = KINDS[type];
    const available = this.#entries.filter(({ info }) => isOfType(info, type)).map(({ info }) => describe(info));
    throw new ConfigError(
      `Failed to find any class that implements ${interfaceName} and which name matches ${nameOrAlias}, available ${interfaceName.toLowerCase()}s are: ${available.join(', ')}`,
    );
  }

  /** Finds a plugin of any type. If several match the name, returns the first one in the order of the listing. */
  tryFindAny(nameOrAlias: string, wanted?: string): Plugin | undefined {
    for (const type of TYPE_ORDER) {
      const found = this.tryFind(type, nameOrAlias, wanted);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Finds a plugin. Returns the newest version if no version is in the range `wanted`, or if the range is invalid. */
  tryFind<T extends PluginType>(type: T, nameOrAlias: string, wanted?: string): PluginOfType<T> | undefined {
    const candidates = this.ofType(type);
    const className = candidates.some((plugin) => plugin.className === nameOrAlias)
      ? nameOrAlias
      : this.#aliased(type, candidates, nameOrAlias);
    const versions = candidates.filter((plugin) => plugin.className === className);
    const range = wanted === undefined ? undefined : parseVersionRange(wanted);
    return versions.findLast(({ version }) => range?.includes(version) ?? true) ?? versions.at(-1);
  }

  #aliased(type: PluginType, candidates: readonly Plugin[], alias: string): string | undefined {
    const { suffix, interfaceName } = KINDS[type];
    const matches = candidates.filter((plugin) => {
      const simple = simpleName(plugin.className);
      return simple === alias || simple === `${alias}${suffix}`;
    });
    const classNames = [...new Set(matches.map((plugin) => plugin.className))];
    if (classNames.length > 1) {
      throw new ConfigError(
        `More than one ${interfaceName.toLowerCase()} matches alias ${alias}. Please use full package and class name instead. Classes found: ${classNames.join(', ')}`,
      );
    }
    return classNames[0];
  }

  #mismatch(type: PluginType, plugin: Plugin, wanted: string | undefined): string | undefined {
    if (wanted === undefined) return undefined;
    const kind: ChoiceKind = type === 'sink' || type === 'source' ? 'connector' : type;
    if (!isOfType(plugin, kind)) return undefined;
    return versionMismatch(this, plugin, wanted);
  }
}

function ownEntry(plugin: Plugin): Entry {
  const { type, className, version } = plugin;
  return { info: { type, className, version, location: BUILT_IN }, plugin };
}

function externalEntry(external: ExternalPlugins[number]): Entry {
  const { type, className, version, location } = external;
  const info = { type, className, version, location };
  return { info, plugin: notLoaded(info), external };
}

function notLoaded(info: PluginInfo): Plugin {
  const known: Partial<Plugin> = info;
  return new Proxy(known as Plugin, {
    get(target, member) {
      if (member in target || typeof member === 'symbol' || member === 'then') {
        return Reflect.get(target, member) as unknown;
      }
      throw new Error(`The plugin ${info.className} has not been loaded, so its ${member} is unknown`);
    },
  });
}

function byPlaceInList({ info: a }: Entry, { info: b }: Entry): number {
  const byType = TYPE_ORDER.indexOf(a.type) - TYPE_ORDER.indexOf(b.type);
  if (byType !== 0) return byType;
  return a.className === b.className ? compareVersions(a.version, b.version) : a.className < b.className ? -1 : 1;
}

function isOfType({ type }: Pick<Plugin, 'type'>, wanted: PluginType): boolean {
  return wanted === 'connector' ? type === 'sink' || type === 'source' : type === wanted;
}

/**
 * Returns `undefined` for inner classes (`org.x.ReplaceField$Value`), because in Java their simple names would all be `Key` and
 * `Value`.
 */
function simpleName(className: string): string | undefined {
  return className.includes('$') ? undefined : className.slice(className.lastIndexOf('.') + 1);
}

function describe({ className, version, type, location }: PluginInfo): string {
  const place = location === BUILT_IN ? 'classpath' : `file:${location}/`;
  return `PluginDesc{klass=class ${className}, name='${className}', version='${version}', encodedVersion=${version}, type=${type}, typeName='${type}', location='${place}'}`;
}
