import { ConfigError } from '../errors.ts';
import type { Plugin } from './api.ts';

export type PluginType = Plugin['type'] | 'connector';
type PluginOfType<T extends PluginType> = T extends 'connector'
  ? Extract<Plugin, { type: 'sink' | 'source' }>
  : Extract<Plugin, { type: T }>;

/** Suffixes that an alias may leave out (reference/kafka-connect.md 3.5), and the interface names texts use. */
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

/** All plugins of the worker, found by full class name, simple name, or simple name without its kind's suffix. */
export class PluginRegistry {
  readonly #plugins: readonly Plugin[];

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = [...plugins].sort(
      (a, b) => TYPE_ORDER.indexOf(a.type) - TYPE_ORDER.indexOf(b.type) || (a.className < b.className ? -1 : 1),
    );
  }

  all(): readonly Plugin[] {
    return this.#plugins;
  }

  ofType<T extends PluginType>(type: T): readonly PluginOfType<T>[] {
    return this.#plugins.filter((plugin): plugin is PluginOfType<T> => isOfType(plugin, type));
  }

  /** Throws a ConfigError with Connect's text when nothing, or more than one plugin, answers to the name. */
  find<T extends PluginType>(type: T, nameOrAlias: string): PluginOfType<T> {
    const found = this.tryFind(type, nameOrAlias);
    if (found !== undefined) return found;
    const { interfaceName } = KINDS[type];
    throw new ConfigError(
      `Failed to find any class that implements ${interfaceName} and which name matches ${nameOrAlias}, available ${interfaceName.toLowerCase()}s are: ${this.ofType(
        type,
      )
        .map(describe)
        .join(', ')}`,
    );
  }

  /** A plugin of whatever type; the first in the order of the listing where several answer to the name. */
  tryFindAny(nameOrAlias: string): Plugin | undefined {
    for (const type of TYPE_ORDER) {
      const found = this.tryFind(type, nameOrAlias);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  tryFind<T extends PluginType>(type: T, nameOrAlias: string): PluginOfType<T> | undefined {
    const candidates = this.ofType(type);
    const exact = candidates.find((plugin) => plugin.className === nameOrAlias);
    if (exact !== undefined) return exact;
    const { suffix, interfaceName } = KINDS[type];
    const matches = candidates.filter((plugin) => {
      const simple = simpleName(plugin.className);
      return simple === nameOrAlias || simple === `${nameOrAlias}${suffix}`;
    });
    if (matches.length > 1) {
      throw new ConfigError(
        `More than one ${interfaceName.toLowerCase()} matches alias ${nameOrAlias}. Please use full package and class name instead. Classes found: ${matches
          .map((plugin) => plugin.className)
          .join(', ')}`,
      );
    }
    return matches[0];
  }
}

function isOfType(plugin: Plugin, type: PluginType): boolean {
  return type === 'connector' ? plugin.type === 'sink' || plugin.type === 'source' : plugin.type === type;
}

/** Inner classes (`org.x.ReplaceField$Value`) have none: in Java they would all be `Key` and `Value`. */
function simpleName(className: string): string | undefined {
  return className.includes('$') ? undefined : className.slice(className.lastIndexOf('.') + 1);
}

function describe(plugin: Plugin): string {
  return `PluginDesc{klass=class ${plugin.className}, name='${plugin.className}', version='${plugin.version}', encodedVersion=${plugin.version}, type=${plugin.type}, typeName='${plugin.type}', location='classpath'}`;
}
