/** java.lang.String.hashCode: 32-bit signed, over UTF-16 units. */
export function javaStringHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
}

const DEFAULT_CAPACITY = 16;
const LOAD_FACTOR = 0.75;

/**
 * The iteration order of a java.util.HashMap into which these keys were inserted in this order. Connect writes the members
 * of an offset key as JSON in this order, and compares keys by their bytes (docs/compatibility.md#internal-topics).
 * `constructor` says how the map was created: `default` is `new HashMap<>()`, `copy` is `new HashMap<>(otherMap)`, which sizes
 * the table for its content, and `capacity` is `new HashMap<>(capacity)`.
 */
export function javaHashMapOrder(
  keys: readonly string[],
  constructor: 'default' | 'copy' | { readonly capacity: number } = 'default',
): string[] {
  let capacity = constructor === 'default' ? DEFAULT_CAPACITY : 1;
  if (typeof constructor === 'object') while (capacity < constructor.capacity) capacity *= 2;
  const needed = constructor === 'copy' ? Math.floor(keys.length / LOAD_FACTOR + 1) : keys.length / LOAD_FACTOR;
  while (capacity < needed) capacity *= 2;
  const buckets = new Map<number, string[]>();
  for (const key of keys) {
    const hash = javaStringHash(key);
    const index = (hash ^ (hash >>> 16)) & (capacity - 1);
    const bucket = buckets.get(index);
    if (bucket === undefined) buckets.set(index, [key]);
    else bucket.push(key);
  }
  return [...buckets.keys()].sort((a, b) => a - b).flatMap((index) => buckets.get(index) ?? []);
}
