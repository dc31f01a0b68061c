import { ConfigError, toError } from '../../errors.ts';
import type { Logger } from '../../observe/logger.ts';
import { SLUICE_VERSION } from '../../version.ts';
import type { ConfigProvider, ConfigProviderPlugin, ProvidedValues } from './config-provider.ts';
import { KubernetesApi, KubernetesStatusError, type KubernetesResource } from './kubernetes-api.ts';
import { ttlMsOf } from './ttl.ts';

const PATH = /^(?:([a-z0-9.-]+)\/)?([a-z0-9.-]+)$/;
/** Maximum length of a pattern that is compared with keys. Keys have at most 253 characters. */
const MAX_PATTERN_LENGTH = 1000;

interface Kind {
  /** Name in messages. */
  readonly name: string;
  readonly resource: KubernetesResource;
  readonly valueOf: (data: string) => string;
}

const SECRET: Kind = {
  name: 'Secret',
  resource: 'secrets',
  valueOf: (data) => Buffer.from(data, 'base64').toString(),
};
const CONFIG_MAP: Kind = { name: 'ConfigMap', resource: 'configmaps', valueOf: (data) => data };

/**
 * `${secrets:namespace/name:key}`: the value of a key of a Secret or ConfigMap, read from the Kubernetes API as the pod's
 * service account. This class re-implements the providers of Strimzi's kafka-kubernetes-config-provider 1.2.
 *
 * The default namespace is that of the pod. If the key contains `*` or `?`, the values of all matching keys are joined
 * with the parameter `separator` (default: line feed). If no key matches, the variable stays unchanged and a warning is
 * logged, unlike in Java.
 */
class KubernetesConfigProvider implements ConfigProvider {
  readonly #kind: Kind;
  readonly #api: KubernetesApi;
  readonly #separator: string;
  readonly #ttlMs: number | undefined;
  readonly #logger: Logger;

  constructor(kind: Kind, parameters: Readonly<Record<string, string>>, logger: Logger) {
    this.#kind = kind;
    this.#api = new KubernetesApi(process.env);
    this.#separator = parameters['separator'] ?? '\n';
    this.#ttlMs = ttlMsOf(parameters);
    this.#logger = logger;
  }

  async get(path: string, keys: ReadonlySet<string>): Promise<ProvidedValues> {
    const [, given, name = ''] = PATH.exec(path) ?? [];
    if (name === '') {
      throw new ConfigError(
        `Invalid path ${path}. It has to be in format <namespace>/<${this.#kind.name.toLowerCase()}> ` +
          `(or <${this.#kind.name.toLowerCase()}> for default namespace).`,
      );
    }
    const namespace = given ?? (await this.#api.namespace());
    if (namespace === undefined) {
      throw new ConfigError(`Invalid path ${path}: outside of a Kubernetes cluster it needs a namespace`);
    }
    const data = await this.#data(namespace, name);
    const values = new Map<string, string>();
    for (const key of keys) {
      const found = matching(key, data);
      if (found.length > 0) values.set(key, found.map((each) => this.#kind.valueOf(each)).join(this.#separator));
    }
    return { values, ttlMs: this.#ttlMs };
  }

  async #data(namespace: string, name: string): Promise<ReadonlyMap<string, string>> {
    const what = `${this.#kind.name} ${name}`;
    this.#logger.info(`Retrieving configuration from ${what} in namespace ${namespace}`);
    try {
      return await this.#api.data(this.#kind.resource, namespace, name);
    } catch (error) {
      const status = error instanceof KubernetesStatusError ? error.status : undefined;
      if (status === 404) throw new ConfigError(`${what} in namespace ${namespace} not found`);
      const cure =
        status === 401 || status === 403 ? `: the worker's service account needs the right to get this ${what}` : '';
      throw new ConfigError(
        `Failed to retrieve ${what} from Kubernetes namespace ${namespace} (${toError(error).message}${cure})`,
        { cause: error },
      );
    }
  }
}

/** The values of the matching keys, sorted by key. */
function matching(pattern: string, data: ReadonlyMap<string, string>): string[] {
  const exact = data.get(pattern);
  if (exact !== undefined) return [exact];
  if (!/[*?]/.test(pattern) || pattern.length > MAX_PATTERN_LENGTH) return [];
  const found = [...data].filter(([key]) => matchesGlob(key, pattern));
  return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

/**
 * Whether the whole text matches the pattern: `*` matches any number of characters, and `?` a single one. Takes at most
 * `text.length * pattern.length` steps.
 */
function matchesGlob(text: string, pattern: string): boolean {
  let [at, to] = [0, 0];
  let star: { readonly to: number; at: number } | undefined;
  while (at < text.length) {
    if (pattern[to] === '*') {
      star = { to, at };
      to += 1;
    } else if (pattern[to] === '?' || pattern[to] === text[at]) {
      at += 1;
      to += 1;
    } else if (star === undefined) {
      return false;
    } else {
      star.at += 1;
      at = star.at;
      to = star.to + 1;
    }
  }
  while (pattern[to] === '*') to += 1;
  return to === pattern.length;
}

function plugin(kind: Kind, className: string): ConfigProviderPlugin {
  return {
    type: 'config_provider',
    className,
    version: SLUICE_VERSION,
    create: (parameters, { logger }) => new KubernetesConfigProvider(kind, parameters, logger),
  };
}

export const kubernetesSecretConfigProvider = plugin(SECRET, 'io.strimzi.kafka.KubernetesSecretConfigProvider');
export const kubernetesConfigMapConfigProvider = plugin(
  CONFIG_MAP,
  'io.strimzi.kafka.KubernetesConfigMapConfigProvider',
);
