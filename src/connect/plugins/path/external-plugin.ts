import { pathToFileURL } from 'node:url';
import type { ConfigProviderPlugin } from '../../../config/providers/config-provider.ts';
import { ConfigError, toError } from '../../../errors.ts';
import type { Logger } from '../../../observe/logger.ts';
import type { Plugin } from '../../api.ts';
import { resolvePluginApi } from './api-resolution.ts';
import type { PackagedClass, PackagedType, PluginPackage } from './manifest.ts';

/** Members that a plugin of each type must have, in addition to its class name. */
const MEMBERS: Readonly<Record<PackagedType, Readonly<Record<string, 'function' | 'object' | 'string'>>>> = {
  sink: { options: 'object', taskClassName: 'string', createConnector: 'function', createTask: 'function' },
  source: { options: 'object', taskClassName: 'string', createConnector: 'function', createTask: 'function' },
  converter: { options: 'object', create: 'function' },
  header_converter: { options: 'object', create: 'function' },
  transformation: { options: 'object', create: 'function' },
  predicate: { options: 'object', create: 'function' },
  config_provider: { create: 'function' },
};

/**
 * A plugin of a package outside the worker. Only its manifest is read until the plugin is needed. Node caches modules by path,
 * so two versions of a class can exist at the same time.
 *
 * States: known -> loading -> loaded | broken. A broken plugin stays broken, because Node does not load a module twice.
 */
export class ExternalPlugin {
  readonly type: PackagedType;
  readonly className: string;
  readonly version: string;
  /** Folder of the package that contains the plugin. */
  readonly location: string;
  readonly #module: string;
  readonly #logger: Logger;
  #loading: Promise<Plugin | ConfigProviderPlugin> | undefined;

  constructor({ version, folder }: PluginPackage, { type, className, module }: PackagedClass, logger: Logger) {
    this.type = type;
    this.className = className;
    this.version = version;
    this.location = folder;
    this.#module = module;
    this.#logger = logger;
  }

  /** Rejects with a ConfigError that explains why the plugin is broken; this is also logged once. */
  async load(): Promise<Plugin | ConfigProviderPlugin> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<Plugin | ConfigProviderPlugin> {
    try {
      resolvePluginApi();
      const exported = (await import(pathToFileURL(this.#module).href)) as Record<string, unknown>;
      return this.#pluginOf(exported);
    } catch (error) {
      const message = `Plugin ${this.className} ${this.version} in ${this.location} cannot be used: ${toError(error).message}`;
      this.#logger.warn({ err: error }, message);
      throw new ConfigError(message, { cause: error });
    }
  }

  /** Finds the plugin by class name and type among the exports of the module, some of which may be lists of plugins. */
  #pluginOf(exported: Readonly<Record<string, unknown>>): Plugin | ConfigProviderPlugin {
    const found = Object.values(exported)
      .flat()
      .find((each) => isRecord(each) && each['className'] === this.className && each['type'] === this.type);
    if (!isRecord(found)) {
      throw new Error(`${this.#module} exports no ${this.type} with the className ${this.className}`);
    }
    for (const [member, kind] of Object.entries(MEMBERS[this.type])) {
      if (typeof found[member] !== kind) throw new Error(`it has no ${member} (${kind})`);
    }
    // The version of the package replaces that of the plugin, so that the author need not maintain both.
    Object.defineProperty(found, 'version', { value: this.version, enumerable: true, configurable: true });
    return found as unknown as Plugin | ConfigProviderPlugin;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
