import type { Logger } from '../../observe/logger.ts';

/** The values that a provider found; unknown keys are absent. */
export interface ProvidedValues {
  readonly values: ReadonlyMap<string, string>;
  /** Validity in milliseconds, after which the values are looked up again; unlimited if absent. */
  readonly ttlMs?: number | undefined;
}

/** Looks up the values of variables `${name:path:key}` in configurations (KIP-297). */
export interface ConfigProvider {
  /**
   * @param path empty if the variable has none (`${name:key}`)
   * @throws ConfigError that says why nothing can be looked up; its message must not contain any value
   */
  get(path: string, keys: ReadonlySet<string>): Promise<ProvidedValues>;
  close?(): Promise<void>;
}

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
