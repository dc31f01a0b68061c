/** java.lang.String.hashCode: 32-bit signed, over UTF-16 units. */
export function javaStringHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
}

const DEFAULT_CAPACITY = 16;

/**
 * The order in which a java.util.HashMap filled with these keys, in this order, iterates over them. Connect's offset keys
 * are JSON written in that order, and their bytes are their identity (reference/kafka-connect.md 5.2).
 */
export function javaHashMapOrder(keys: readonly string[]): string[] {
  let capacity = DEFAULT_CAPACITY;
  while (keys.length > capacity * 0.75) capacity *= 2;
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
