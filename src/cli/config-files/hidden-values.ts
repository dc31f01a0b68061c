import { isSecretValue } from '../../config/secret-values.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import type { ConfigInfosAnswer } from '../../rest/answers.ts';

const HIDDEN = '[hidden]';

/** Types of options by their names, from a validation. */
export type OptionTypes = ReadonlyMap<string, string>;

export function optionTypes({ configs }: ConfigInfosAnswer): OptionTypes {
  return new Map(
    configs.flatMap(({ definition }) => (definition === null ? [] : [[definition.name, definition.type]])),
  );
}

/** Whether a value must not be shown. */
export function isSecret(key: string, value: string, types: OptionTypes): boolean {
  return isSecretValue(key, value, types.get(key));
}

/** The value as it may be shown. A secret is added to `secrets`, which hides it in all other texts as well. */
export function shown(key: string, value: string, types: OptionTypes, secrets: SecretMask): string {
  if (!isSecret(key, value, types)) return value;
  secrets.add(value);
  return HIDDEN;
}

/** Whether the worker, or a proxy in front of it, has hidden the value. */
export function isHiddenByWorker(value: string): boolean {
  return value === HIDDEN || /^\*{3,}$/.test(value);
}
