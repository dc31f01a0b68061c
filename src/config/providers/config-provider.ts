import type { Logger } from '../../observe/logger.ts';

/** What a provider gave for some keys; those it does not know are absent. */
export interface ProvidedValues {
  readonly values: ReadonlyMap<string, string>;
  /** How long the values hold; absent: for good. They are asked for again then. */
  readonly ttlMs?: number | undefined;
}

/** Looks up the values that variables `${name:path:key}` of configurations stand for (KIP-297). */
export interface ConfigProvider {
  /** `path` is empty where the variable has none. A ConfigError says why nothing can be looked up, without any value. */
  get(path: string, keys: ReadonlySet<string>): Promise<ProvidedValues>;
  close?(): Promise<void>;
}

/** What the worker lends a provider. */
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
