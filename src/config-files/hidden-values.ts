import { isSecretName } from '../config/password.ts';
import type { SecretMask } from '../observe/secret-mask.ts';
import type { Validation } from './connect-client.ts';

const HIDDEN = '[hidden]';
const SURELY_SECRET = /passw|secret|token|credential|jaas|passphrase/i;
const PROVIDER_REFERENCE = /^\$\{[^{}]+\}$/;
const URL_PASSWORD = /\/\/[^/?#@:\s]*:[^@/\s]+@|[?&;](?:password|passwd|secret|token)=[^&;\s]+/i;

/** Types of options by their names, from a validation. */
export type OptionTypes = ReadonlyMap<string, string>;

export function optionTypes({ configs }: Validation): OptionTypes {
  return new Map(configs.map(({ definition }) => [definition.name, definition.type]));
}

/**
 * Whether nobody is to see a value: by the type of the option where the plugin declares one, else by its name, and any URL with
 * a password. References to config providers are no secrets.
 */
export function isSecret(key: string, value: string, types: OptionTypes): boolean {
  if (value === '' || PROVIDER_REFERENCE.test(value)) return false;
  const type = types.get(key);
  if (type === 'PASSWORD' || SURELY_SECRET.test(key) || URL_PASSWORD.test(value)) return true;
  return type === undefined && isSecretName(key) && !/url$/i.test(key);
}

/** What may be shown of a value; a secret is hidden in all other texts, too, from here on. */
export function shown(key: string, value: string, types: OptionTypes, secrets: SecretMask): string {
  if (!isSecret(key, value, types)) return value;
  secrets.add(value);
  return HIDDEN;
}

/** A worker, or something before it, shows no more of the value. */
export function isHiddenByWorker(value: string): boolean {
  return value === HIDDEN || /^\*{3,}$/.test(value);
}
