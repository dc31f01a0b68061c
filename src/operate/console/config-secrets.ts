import { createHash } from 'node:crypto';
import { passwordsWithin } from '../../config/secret-values.ts';
import { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigBody } from '../../rest/request-body.ts';

/** The text that replaces each secret in answers to browsers. In a request of a browser, it represents the stored value. */
export const MARK = '[hidden]';

/** A configuration as a browser may see it. */
export interface ShownConfig {
  /** In the order of the configuration. */
  readonly entries: readonly (readonly [key: string, value: string | null])[];
  /** Hash of the shown entries. It reveals nothing about hidden values. */
  readonly version: string;
}

export function shownConfig(config: ConfigBody, secrets: ReadonlySet<string>): ShownConfig {
  const entries = Object.entries(config).map(([key, value]) => [key, secrets.has(key) ? MARK : value] as const);
  return { entries, version: createHash('sha256').update(JSON.stringify(entries)).digest('hex') };
}

/** A given configuration, in which stored values replace each `MARK`. */
export interface CompletedConfig {
  readonly config: ConfigBody;
  /** Keys whose value is `MARK` although no value is stored. */
  readonly missing: readonly string[];
  /** Stored values of the keys whose value was `MARK`. */
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

/**
 * The error message for a key whose stored value is a secret although the new configuration does not declare it as one.
 */
export function bareText(key: string): string {
  return `The stored value of ${key} is a secret, but this configuration does not declare ${key} as one: enter the value`;
}

/** The error message for a key whose value is `MARK` although no value is stored. */
export function missingText(key: string): string {
  return `${MARK} replaces a stored value, and none is stored for ${key}: enter the value`;
}

/**
 * Returns a mask that hides the secrets of a configuration in texts. `kept`: stored values by key, which are hidden
 * even if their keys are not in `secrets`.
 */
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
