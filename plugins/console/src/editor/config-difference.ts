import type { Entry } from './config-document.ts';

/** The difference in one key between the stored and the edited configuration. */
export interface KeyChange {
  readonly key: string;
  readonly kind: 'added' | 'changed' | 'removed';
  /** Whether the values must not be shown. */
  readonly isSecret: boolean;
  readonly before: string | null;
  readonly after: string | null;
}

/** The changed keys: first those of the stored configuration in its order, then the added keys in the order of the new one. */
export function configDifference(
  before: readonly Entry[],
  after: readonly Entry[],
  secrets: ReadonlySet<string>,
): readonly KeyChange[] {
  const [old, now] = [new Map(before), new Map(after)];
  const keys = [...new Set([...old.keys(), ...now.keys()])];
  return keys.flatMap((key): readonly KeyChange[] => {
    const [was, is] = [old.get(key), now.get(key)];
    if (was === is) return [];
    const kind = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    const isSecret = secrets.has(key);
    return [{ key, kind, isSecret, before: isSecret ? null : (was ?? null), after: isSecret ? null : (is ?? null) }];
  });
}
