import { isSecretValue } from '../../config/secret-values.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { Validation } from './connect-client.ts';

const HIDDEN = '[hidden]';

/** Types of options by their names, from a validation. */
export type OptionTypes = ReadonlyMap<string, string>;

export function optionTypes({ configs }: Validation): OptionTypes {
  return new Map(configs.map(({ definition }) => [definition.name, definition.type]));
}

/** Whether nobody is to see a value. */
export function isSecret(key: string, value: string, types: OptionTypes): boolean {
  return isSecretValue(key, value, types.get(key));
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
