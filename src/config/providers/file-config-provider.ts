import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { decode, parseProperties } from '../properties-file.ts';
import { AllowedPaths } from './allowed-paths.ts';
import type { ConfigProvider, ConfigProviderPlugin, ProvidedValues } from './config-provider.ts';
import { reasonOf, readSmallFile } from './small-file.ts';
import { CONNECT_VERSION } from '../../version.ts';
import { ttlMsOf } from './ttl.ts';

/** `${file:/path/of.properties:key}`: a property of a file (org.apache.kafka.common.config.provider.FileConfigProvider). */
class FileConfigProvider implements ConfigProvider {
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
    const file = this.#allowed.resolve(path);
    if (file === undefined) {
      this.#logger.warn(`The path ${path} is not allowed to be accessed`);
      return { values: new Map() };
    }
    const properties = await this.#properties(path, file);
    return { values: new Map([...properties].filter(([key]) => keys.has(key))), ttlMs: this.#ttlMs };
  }

  /** Does not include the parser's message, which would quote the content of the file. */
  async #properties(path: string, file: string): Promise<ReadonlyMap<string, string>> {
    let bytes: Uint8Array;
    try {
      bytes = await readSmallFile(file);
    } catch (error) {
      this.#logger.error(`Could not read properties from file ${path}: ${reasonOf(error)}`);
      throw new ConfigError(`Could not read properties from file ${path}`);
    }
    try {
      return new Map(Object.entries(parseProperties(decode(bytes))));
    } catch {
      this.#logger.error(`Could not read properties from file ${path}: it is malformed`);
      throw new ConfigError(`Could not read properties from file ${path}`);
    }
  }
}

export const fileConfigProvider: ConfigProviderPlugin = {
  type: 'config_provider',
  className: 'org.apache.kafka.common.config.provider.FileConfigProvider',
  version: CONNECT_VERSION,
  create: (parameters, { logger }) => new FileConfigProvider(parameters, logger),
};
