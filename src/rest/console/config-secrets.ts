import { createHash } from 'node:crypto';
import { clientDefinitions } from '../../config/client-definitions.ts';
import { isSecretValue, passwordsWithin } from '../../config/secret-values.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { declaredTypes } from '../../herder/history/password-keys.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigBody } from '../request-body.ts';

/** Stands for a secret in what a browser gets. In what it sends, it stands for the value that is stored. */
export const MARK = '[hidden]';

const OVERRIDE = /^(producer|consumer|admin)\.override\.(.*)$/s;
/** What says where a secret goes: an address, or the class that is given it. */
const ADDRESS =
  /(?:^|[._-])(?:ur[il]s?|hosts?|hostname|servers?|brokers?|endpoints?|address(?:es)?|port|proxy|dsn|class|type|converter|location)$/i;

/** A configuration as a browser may see it. */
export interface ShownConfig {
  /** In their order. */
  readonly entries: readonly (readonly [key: string, value: string | null])[];
  /** Changes with what is shown, and says nothing of what is not. */
  readonly version: string;
}

/** The keys whose values nobody is to see: by what plugins and Kafka's clients declare, else by their names and values. */
export async function secretKeys(config: ConfigBody, plugins: PluginRegistry): Promise<ReadonlySet<string>> {
  const types = await declaredTypes(config, plugins);
  const typeOf = (key: string): string | undefined => types.get(key) ?? overrideType(key);
  const secret = Object.entries(config).filter(([key, value]) => isSecretValue(key, value ?? '', typeOf(key)));
  return new Set(secret.map(([key]) => key));
}

export function shownConfig(config: ConfigBody, secrets: ReadonlySet<string>): ShownConfig {
  const entries = Object.entries(config).map(([key, value]) => [key, secrets.has(key) ? MARK : value] as const);
  return { entries, version: createHash('sha256').update(JSON.stringify(entries)).digest('hex') };
}

/** What was given, with stored values for marks. */
export interface CompletedConfig {
  readonly config: ConfigBody;
  /** Keys with a mark for which nothing is stored. */
  readonly missing: readonly string[];
  /** Keys with a mark, and what is stored for them. */
  readonly kept: ReadonlyMap<string, string>;
}

export function withStoredValues(given: ConfigBody, stored: ConfigBody): CompletedConfig {
  const missing: string[] = [];
  const kept = new Map<string, string>();
  const entries = Object.entries(given).map(([key, value]) => {
    if (value !== MARK) return [key, value] as const;
    if (!Object.hasOwn(stored, key)) {
      missing.push(key);
      return [key, value] as const;
    }
    kept.set(key, stored[key] ?? '');
    return [key, stored[key] ?? null] as const;
  });
  return { config: Object.fromEntries(entries), missing, kept };
}

/** Stored secrets that are for another address, or another class, than what is given now. */
export interface Withheld {
  readonly keys: readonly string[];
  /** The keys that were changed. */
  readonly because: readonly string[];
}

/** An address is one of the secrets whose keys begin with the same word; the class of the connector is one of all. */
export function withheld({ config, kept }: CompletedConfig, stored: ConfigBody): Withheld {
  const keys = [...new Set([...Object.keys(config), ...Object.keys(stored)])];
  const changed = keys.filter((key) => ADDRESS.test(key) && config[key] !== stored[key]);
  const isFor = (address: string, key: string): boolean =>
    address === 'connector.class' ||
    !address.includes('.') ||
    !key.includes('.') ||
    firstWord(address) === firstWord(key);
  return {
    keys: [...kept.keys()].filter((key) => changed.some((address) => isFor(address, key))),
    because: changed.filter((address) => [...kept.keys()].some((key) => isFor(address, key))),
  };
}

function firstWord(key: string): string {
  return key.slice(0, key.indexOf('.'));
}

/** What is wrong with a stored secret that anybody could read once the configuration is saved. */
export function bareText(key: string): string {
  return `The value of ${key} is a secret, and nothing in this configuration says so: give the value`;
}

/** What is wrong with a mark for which nothing is stored. */
export function missingText(key: string): string {
  return `${MARK} stands for a value that is stored, and there is none for ${key}: give the value`;
}

/** Takes the secrets of a configuration out of texts. `kept`: values that stay hidden, whatever they are now called. */
export function configMask(
  config: ConfigBody,
  secrets: ReadonlySet<string>,
  kept: ReadonlyMap<string, string> = new Map(),
): SecretMask {
  const mask = new SecretMask();
  for (const value of [...[...secrets].map((key) => config[key] ?? ''), ...kept.values()]) {
    if (value === MARK) continue;
    mask.add(value);
    for (const password of passwordsWithin(value)) mask.add(password);
  }
  return mask;
}

function overrideType(key: string): string | undefined {
  const [, kind, setting = ''] = OVERRIDE.exec(key) ?? [];
  if (kind !== 'producer' && kind !== 'consumer' && kind !== 'admin') return undefined;
  const known = clientDefinitions(kind);
  return Object.hasOwn(known, setting) ? known[setting]?.type : undefined;
}
