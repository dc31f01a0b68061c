/** java.lang.String.hashCode: 32-bit signed, over UTF-16 units. */
export function javaStringHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
}

const DEFAULT_CAPACITY = 16;
const LOAD_FACTOR = 0.75;

/**
 * The iteration order of a java.util.HashMap into which these keys were inserted in this order. Connect writes offset keys as JSON
 * in that order, and their bytes identify them (docs/compatibility.md#internal-topics). `made` is the constructor of the map:
 * `copy` is `new HashMap<>(otherMap)`, which sizes the table for its content; `capacity` is `new HashMap<>(capacity)`.
 */
export function javaHashMapOrder(
  keys: readonly string[],
  made: 'default' | 'copy' | { readonly capacity: number } = 'default',
): string[] {
  let capacity = made === 'default' ? DEFAULT_CAPACITY : 1;
  if (typeof made === 'object') while (capacity < made.capacity) capacity *= 2;
  const needed = made === 'copy' ? Math.floor(keys.length / LOAD_FACTOR + 1) : keys.length / LOAD_FACTOR;
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
