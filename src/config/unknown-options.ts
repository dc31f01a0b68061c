import { nearestName } from './nearest.ts';

export interface UnknownOption {
  readonly key: string;
  /** The option that was probably meant. */
  readonly nearest: string;
}

/** The sentence that all who look at a configuration show. */
export function unknownOptionText({ key, nearest }: UnknownOption): string {
  return `there is no option ${key}; did you mean ${nearest}?`;
}

/** Keys with these prefixes are options of transforms, predicates, converters, Kafka clients and topic groups, not of the connector. */
const NAMES_OF_OTHERS =
  /^(transforms|predicates|(key|value|header)\.converter|(consumer|producer|admin)\.override|topic\.creation)\./;
/** At most this many keys are compared with the known names, to bound the time of a validation. */
const MAX_KEYS = 200;

/**
 * Keys of a connector's configuration that are no options but nearly are. Connect hands keys that nobody knows to the connector, so
 * those without a near name are passed over. `known`: the names of all options that a validation has looked at.
 */
export function unknownOptions(keys: readonly string[], known: readonly string[]): UnknownOption[] {
  const names = new Set(known);
  const unknown = keys.filter((key) => !names.has(key) && !NAMES_OF_OTHERS.test(key)).slice(0, MAX_KEYS);
  return unknown.flatMap((key) => {
    const nearest = nearestName(key, names);
    return nearest === undefined ? [] : [{ key, nearest }];
  });
}
