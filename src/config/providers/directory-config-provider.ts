import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { AllowedPaths } from './allowed-paths.ts';
import type { ConfigProvider, ConfigProviderPlugin, ProvidedValues } from './config-provider.ts';
import { reasonOf, readSmallFile } from './small-file.ts';
import { CONNECT_VERSION } from '../../version.ts';
import { ttlMsOf } from './ttl.ts';

/**
 * `${directory:/path:file}`: the content of a file in a directory, as Kubernetes mounts secrets
 * (org.apache.kafka.common.config.provider.DirectoryConfigProvider).
 */
class DirectoryConfigProvider implements ConfigProvider {
  readonly #allowed: AllowedPaths;
  readonly #ttlMs: number | undefined;
  readonly #logger: Logger;

  constructor(parameters: Readonly<Record<string, string>>, logger: Logger) {
    this.#allowed = new AllowedPaths(parameters['allowed.paths']);
    this.#ttlMs = ttlMsOf(parameters);
    this.#logger = logger;
  }

  async get(path: string, keys: ReadonlySet<string>): Promise<ProvidedValues> {
    if (path === '') return { values: new Map() };
    const directory = this.#allowed.resolve(path);
    if (directory === undefined) {
      this.#logger.warn(`The path ${path} is not allowed to be accessed`);
      return { values: new Map() };
    }
    if ((await stat(directory).catch(() => undefined))?.isDirectory() !== true) {
      this.#logger.warn(`The path ${path} is not a directory`);
      return { values: new Map() };
    }
    const values = new Map<string, string>();
    // Only names in the directory itself are read, so a key with a slash cannot escape it.
    for (const name of (await this.#list(directory)).filter((each) => keys.has(each))) {
      const file = join(directory, name);
      if ((await stat(file).catch(() => undefined))?.isFile() === true) values.set(name, await this.#read(file, name));
    }
    return { values, ttlMs: this.#ttlMs };
  }

  async #list(directory: string): Promise<string[]> {
    try {
      return await readdir(directory);
    } catch (error) {
      this.#logger.error(`Could not list directory ${directory}: ${reasonOf(error)}`);
      throw new ConfigError(`Could not list directory ${directory}`);
    }
  }

  async #read(file: string, name: string): Promise<string> {
    try {
      return (await readSmallFile(file)).toString();
    } catch (error) {
      this.#logger.error(`Could not read file ${file} for property ${name}: ${reasonOf(error)}`);
      throw new ConfigError(`Could not read file ${file} for property ${name}`);
    }
  }
}

export const directoryConfigProvider: ConfigProviderPlugin = {
  type: 'config_provider',
  className: 'org.apache.kafka.common.config.provider.DirectoryConfigProvider',
  version: CONNECT_VERSION,
  create: (parameters, { logger }) => new DirectoryConfigProvider(parameters, logger),
};
