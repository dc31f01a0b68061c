import { createHash } from 'node:crypto';
import { clientDefinitions } from '../../config/client-definitions.ts';
import { isSecretValue } from '../../config/secret-values.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { declaredTypes } from '../../herder/history/password-keys.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigBody } from '../request-body.ts';

/** Stands for a secret in what a browser gets. In what it sends, it stands for the value that is stored. */
export const MARK = '[hidden]';

const OVERRIDE = /^(producer|consumer|admin)\.override\.(.*)$/s;
const PASSWORD_IN_URL = /\/\/[^/?#@:\s]*:([^@/\s]+)@|[?&;](?:password|passwd|secret|token)=([^&;\s]+)/gi;

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

/** What was given, with stored values for marks. `missing`: keys with a mark for which nothing is stored. */
export function withStoredValues(
  given: ConfigBody,
  stored: ConfigBody,
): { readonly config: ConfigBody; readonly missing: readonly string[] } {
  const missing: string[] = [];
  const entries = Object.entries(given).map(([key, value]) => {
    if (value !== MARK) return [key, value] as const;
    if (!Object.hasOwn(stored, key)) missing.push(key);
    return [key, Object.hasOwn(stored, key) ? (stored[key] ?? null) : value] as const;
  });
  return { config: Object.fromEntries(entries), missing };
}

/** What is wrong with a mark for which nothing is stored. */
export function missingText(key: string): string {
  return `${MARK} stands for a value that is stored, and there is none for ${key}: give the value`;
}

/** Takes the secrets of a configuration out of texts. */
export function configMask(config: ConfigBody, secrets: ReadonlySet<string>): SecretMask {
  const mask = new SecretMask();
  for (const key of secrets) {
    const value = config[key] ?? '';
    if (value === MARK) continue;
    mask.add(value);
    for (const [, user = '', parameter = ''] of value.matchAll(PASSWORD_IN_URL))
      mask.add(user === '' ? parameter : user);
  }
  return mask;
}

function overrideType(key: string): string | undefined {
  const [, kind, setting = ''] = OVERRIDE.exec(key) ?? [];
  if (kind !== 'producer' && kind !== 'consumer' && kind !== 'admin') return undefined;
  const known = clientDefinitions(kind);
  return Object.hasOwn(known, setting) ? known[setting]?.type : undefined;
}
