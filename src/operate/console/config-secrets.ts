import { createHash } from 'node:crypto';
import { passwordsWithin } from '../../config/secret-values.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigBody } from '../../rest/request-body.ts';

/** Stands for a secret in what a browser gets. In what it sends, it stands for the value that is stored. */
export const MARK = '[hidden]';

/** A configuration as a browser may see it. */
export interface ShownConfig {
  /** In their order. */
  readonly entries: readonly (readonly [key: string, value: string | null])[];
  /** Changes with what is shown, and says nothing of what is not. */
  readonly version: string;
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
