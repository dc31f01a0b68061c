import { isSecretValue } from '../../config/secret-values.ts';
import type { KeyDifference } from './history-answers.ts';
import type { KeptConfig } from './history-entry.ts';

const HIDDEN = '[hidden]';

/** Keys whose values differ, sorted by name. `hide` removes known secrets from a text. */
export function difference(
  before: KeptConfig,
  after: KeptConfig,
  secretKeys: ReadonlySet<string>,
  hide: (text: string) => string,
): KeyDifference[] {
  const shown = (key: string, value: string | null) => {
    if (value === null) return null;
    return isSecretValue(key, value, secretKeys.has(key) ? 'PASSWORD' : undefined) ? HIDDEN : hide(value);
  };
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((key) => {
    const [old, now] = [own(before, key), own(after, key)];
    if (old === now) return [];
    return [
      {
        key,
        ...(old === undefined ? {} : { before: shown(key, old) }),
        ...(now === undefined ? {} : { after: shown(key, now) }),
      },
    ];
  });
}

export function sameConfig(a: KeptConfig, b: KeptConfig): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => own(a, key) === own(b, key));
}

function own(config: KeptConfig, key: string): string | null | undefined {
  return Object.hasOwn(config, key) ? config[key] : undefined;
}
