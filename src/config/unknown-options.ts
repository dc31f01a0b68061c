import { nearestName } from './nearest.ts';

export interface UnknownOption {
  readonly key: string;
  readonly nearest: string;
}

export function unknownOptionText({ key, nearest }: UnknownOption): string {
  return `unknown option ${key}; did you mean ${nearest}?`;
}

/**
 * Prefixes of options that are not the connector's own: those of transforms, predicates, converters, Kafka clients and
 * topic groups.
 */
const NAMES_OF_OTHERS =
  /^(transforms|predicates|(key|value|header)\.converter|(consumer|producer|admin)\.override|topic\.creation)\./;
/** Maximum number of keys to compare, to limit the time of a validation. */
const MAX_KEYS = 200;

/**
 * Unknown keys of a connector's configuration that resemble an option. Connect passes unknown keys to the connector, so those
 * without a similar name are ignored. `known`: the names of all options of the validation.
 */
export function unknownOptions(keys: readonly string[], known: readonly string[]): UnknownOption[] {
  const names = new Set(known);
  const unknown = keys.filter((key) => !names.has(key) && !NAMES_OF_OTHERS.test(key)).slice(0, MAX_KEYS);
  return unknown.flatMap((key) => {
    const nearest = nearestName(key, names);
    return nearest === undefined ? [] : [{ key, nearest }];
  });
}
