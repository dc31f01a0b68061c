import { javaRegexMatcher } from '../../java/java-regex.ts';
import { ConfigError, toError } from '../../errors.ts';
import { CONNECT_VERSION } from '../../version.ts';
import type { ConfigProvider, ConfigProviderPlugin, ProvidedValues } from './config-provider.ts';

/** `${env:NAME}`: a variable of the worker's environment (org.apache.kafka.common.config.provider.EnvVarConfigProvider). */
class EnvVarConfigProvider implements ConfigProvider {
  readonly #isAllowed: (name: string) => boolean;

  constructor(parameters: Readonly<Record<string, string>>) {
    this.#isAllowed = allowlist(parameters['allowlist.pattern']);
  }

  async get(path: string, keys: ReadonlySet<string>): Promise<ProvidedValues> {
    if (path !== '') throw new ConfigError(`Path is not supported for EnvVarConfigProvider, invalid value '${path}'`);
    const values = new Map<string, string>();
    for (const name of keys) {
      const value = this.#isAllowed(name) ? process.env[name] : undefined;
      if (value !== undefined) values.set(name, value);
    }
    return Promise.resolve({ values });
  }
}

function allowlist(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  try {
    return javaRegexMatcher(pattern);
  } catch (error) {
    throw new ConfigError(`Invalid value ${pattern} for configuration allowlist.pattern: ${toError(error).message}`);
  }
}

export const envVarConfigProvider: ConfigProviderPlugin = {
  type: 'config_provider',
  className: 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
  version: CONNECT_VERSION,
  create: (parameters) => new EnvVarConfigProvider(parameters),
};
