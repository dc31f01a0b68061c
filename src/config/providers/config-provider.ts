import type { Logger } from '../../observe/logger.ts';

/** The values that a provider found; keys that it does not know are absent. */
export interface ProvidedValues {
  readonly values: ReadonlyMap<string, string>;
  /** Milliseconds for which the values are valid; then they are looked up again. Absent: no limit. */
  readonly ttlMs?: number | undefined;
}

/** Looks up the values that variables `${name:path:key}` of configurations stand for (KIP-297). */
export interface ConfigProvider {
  /**
   * @param path empty if the variable has none (`${name:key}`)
   * @throws ConfigError that says why nothing can be looked up; its message must not contain any value
   */
  get(path: string, keys: ReadonlySet<string>): Promise<ProvidedValues>;
  close?(): Promise<void>;
}

/** What the worker gives to a provider. */
export interface ConfigProviderContext {
  readonly logger: Logger;
}

export interface ConfigProviderPlugin {
  readonly type: 'config_provider';
  readonly className: string;
  readonly version: string;
  /** `parameters` are the properties `config.providers.<name>.param.…`, without that prefix. */
  create(parameters: Readonly<Record<string, string>>, context: ConfigProviderContext): ConfigProvider;
}
