import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigProvider, ProvidedValues } from './config-provider.ts';
import { hasVariables, replaceVariables, variablesOf, type Variable } from './variables.ts';

/** A configuration with resolved variables. */
export interface ResolvedConfig<C> {
  readonly config: C;
  /** Milliseconds until the first value expires; `undefined` if no value expires. */
  readonly ttlMs: number | undefined;
  /** The resolved values by variable, as written in the configuration. */
  readonly values: ReadonlyMap<string, string>;
}

type Lookups = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, string>>>;

/**
 * Resolves variables (org.apache.kafka.common.config.ConfigTransformer) in one pass over each value, with one lookup per path and
 * provider. Variables of unknown providers and unknown keys stay unchanged. Resolved values of an option are added to the secrets
 * that the worker hides, if `isSecret` is true for the key of the option.
 */
export class ConfigResolver {
  readonly #providers: ReadonlyMap<string, ConfigProvider>;
  readonly #secrets: SecretMask;
  readonly #logger: Logger;
  readonly #isSecret: (key: string) => boolean;

  /** `isSecret`: whether the values that are resolved in an option with this key are secrets; by default, all are. */
  constructor(
    providers: ReadonlyMap<string, ConfigProvider>,
    secrets: SecretMask,
    logger: Logger,
    isSecret: (key: string) => boolean = () => true,
  ) {
    this.#providers = providers;
    this.#secrets = secrets;
    this.#logger = logger;
    this.#isSecret = isSecret;
  }

  /** Rejects with a ConfigError if a provider fails. A provider that does not know a key has not failed. */
  async resolve<C extends Readonly<Record<string, string | null>>>(config: C): Promise<ResolvedConfig<C>> {
    const variables = Object.values(config).flatMap((value) => this.#known(value));
    if (variables.length === 0) return { config, ttlMs: undefined, values: new Map() };
    const { lookups, ttlMs } = await this.#lookUp(variables);
    const values = new Map<string, string>();
    const lookup = (variable: Variable): string | undefined => {
      const value = lookups.get(variable.provider)?.get(variable.path)?.get(variable.key);
      if (value !== undefined) values.set(variable.text, value);
      return value;
    };
    const entries = Object.entries(config).map(([key, value]) => {
      if (value === null || !hasVariables(value)) return [key, value];
      const resolved = replaceVariables(value, lookup);
      this.#note(key, value, resolved, values);
      return [key, resolved];
    });
    return { config: Object.fromEntries(entries) as C, ttlMs, values };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#providers.values()].map(async (provider) => provider.close?.()));
  }

  #known(value: string | null): Variable[] {
    return value === null ? [] : variablesOf(value).filter(({ provider }) => this.#providers.has(provider));
  }

  async #lookUp(variables: readonly Variable[]): Promise<{ lookups: Lookups; ttlMs: number | undefined }> {
    const wanted = new Map<string, { provider: string; path: string; keys: Set<string> }>();
    for (const { provider, path, key } of variables) {
      const id = JSON.stringify([provider, path]);
      const known = wanted.get(id) ?? { provider, path, keys: new Set<string>() };
      wanted.set(id, known);
      known.keys.add(key);
    }
    const lookups = new Map<string, Map<string, ReadonlyMap<string, string>>>();
    let ttlMs: number | undefined;
    for (const { provider, path, keys } of wanted.values()) {
      const provided = await this.#ask(provider, path, keys);
      const paths = lookups.get(provider) ?? new Map<string, ReadonlyMap<string, string>>();
      lookups.set(provider, paths.set(path, provided.values));
      if (provided.ttlMs !== undefined) ttlMs = Math.min(ttlMs ?? Infinity, provided.ttlMs);
    }
    return { lookups, ttlMs };
  }

  async #ask(name: string, path: string, keys: ReadonlySet<string>): Promise<ProvidedValues> {
    try {
      return (await this.#providers.get(name)?.get(path, keys)) ?? { values: new Map() };
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throw new ConfigError(`Config provider ${name} failed to look up ${path}`, { cause: error });
    }
  }

  #note(key: string, value: string, resolved: string, found: ReadonlyMap<string, string>): void {
    for (const { text } of this.#known(value)) {
      const part = found.get(text);
      if (part === undefined) this.#logger.warn(`${text} in ${key} has no value and stays as it is`);
      else if (this.#isSecret(key)) this.#secrets.add(part);
    }
    if (resolved !== value && this.#isSecret(key)) this.#secrets.add(resolved);
  }
}
