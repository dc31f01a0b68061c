import type { MetricSet, MetricValue } from './metric-set.ts';

/**
 * Merges sets with the same group and tags. Clients with the same id, in all threads, are shown as one, because a
 * response of `/metrics` may contain a name with the same labels only once. Counts and rates are added. For maxima, the
 * largest value is used; for other values, the first known one.
 */
export function mergedSets(sets: readonly MetricSet[]): readonly MetricSet[] {
  const merged = new Map<string, MetricSet>();
  for (const set of sets) {
    const key = JSON.stringify([set.domain, set.group, ...Object.entries(set.tags)]);
    const before = merged.get(key);
    merged.set(key, before === undefined ? set : { ...set, values: mergedValues(before.values, set.values) });
  }
  return [...merged.values()];
}

function mergedValues(first: MetricSet['values'], second: MetricSet['values']): MetricSet['values'] {
  const values: Record<string, MetricValue> = { ...first };
  for (const [attribute, value] of Object.entries(second)) {
    const known = values[attribute];
    values[attribute] = known === undefined ? value : mergedValue(attribute, known, value);
  }
  return values;
}

function mergedValue(attribute: string, first: MetricValue, second: MetricValue): MetricValue {
  if (typeof first !== 'number' || typeof second !== 'number') return first;
  if (Number.isNaN(first)) return second;
  if (Number.isNaN(second)) return first;
  if (/-(?:total|rate|count|partitions)$/.test(attribute)) return first + second;
  return attribute.endsWith('-max') ? Math.max(first, second) : first;
}
